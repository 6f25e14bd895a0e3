# SPDX-License-Identifier: BSD-3-Clause
"""Few boxes for a map of choices."""


def rectangles(cells, columns, rows):
    """Rectangles [column, column, row, row, choice], ends included, that cover the cells of a grid which have
    a choice: runs over the columns, joined over rows where they are the same."""
    found, above = [], {}
    for row in range(rows):
        runs, start = {}, 0
        while start < columns:
            end = start
            while end + 1 < columns and cells.get((end + 1, row)) == cells.get((start, row)):
                end += 1
            if cells.get((start, row)):
                key = start, end, cells[start, row]
                if key not in above:
                    found.append([start, end, row, row, cells[start, row]])
                runs[key] = above.get(key, found[-1])
                runs[key][3] = row
            start = end + 1
        above = runs
    return found
