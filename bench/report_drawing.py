# SPDX-License-Identifier: BSD-3-Clause
"""What all plots share. Series differ in colour (Okabe and Ito's, made for colour-blind readers),
and also in hatching or in marker and line, for those who see or print grey."""

import os

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "gfk", "font.size": 9, "axes.spines.top": False,
                            "axes.spines.right": False, "hatch.linewidth": 0.6})
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of backend)

BARS = (("#0072B2", ""), ("#E69F00", "//"), ("#B6DCF2", ".."), ("#D55E00", "xx"))
LINES = (("#0072B2", "o", "-"), ("#E69F00", "s", "-"), ("#009E73", "^", "-"),
         ("#D55E00", "v", "--"), ("#CC79A7", "D", "-"), ("#56B4E9", "P", "--"),
         ("#000000", "x", "-"))


def save(figure, folder, name):
    figure.savefig(folder / name, metadata={"Date": None})  # the same input, the same bytes
    plt.close(figure)
    print(f"wrote {os.path.relpath(folder / name)}")
    return name


def bars(axis, groups, series, values):
    """Grouped bars; values[i][j] is series i in group j, None where there is no row. Bars of a
    group stand close together, in the middle of their place."""
    for j, _ in enumerate(groups):
        there = [i for i, _ in enumerate(series) if values[i][j] is not None]
        width = 0.8 / len(series)
        for place, i in enumerate(there):
            colour, hatch = BARS[i]
            axis.bar(j + (place - (len(there) - 1) / 2) * width, values[i][j], width, color=colour,
                     hatch=hatch, edgecolor="black", linewidth=0.4)
    axis.set_xticks(range(len(groups)), groups)
    axis.set_xlim(-0.6, len(groups) - 0.4)


def bar_legend(axis, series):
    """Below the lowest axes: inside, it would hide bars."""
    handles = [plt.Rectangle((0, 0), 1, 1, facecolor=colour, hatch=hatch, edgecolor="black",
                             linewidth=0.4) for colour, hatch in BARS[:len(series)]]
    axis.legend(handles, series, loc="upper center", bbox_to_anchor=(0.5, -0.2),
                ncol=len(series), frameon=False)


def line(axis, points, style, label=None):
    colour, marker, dashes = LINES[style]
    axis.plot(*zip(*sorted(points)), color=colour, marker=marker, linestyle=dashes, markersize=4,
              linewidth=1.2, label=label)


def figure_of(rows, columns, width, height, **sharing):
    return plt.subplots(rows, columns, figsize=(width, height), squeeze=False,
                        layout="constrained", **sharing)
