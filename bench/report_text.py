# SPDX-License-Identifier: BSD-3-Clause
"""Figures and tables as Markdown."""


def table(header, lines):
    """A Markdown table; the first column is text, the others are figures."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |"
                     for line in [header, rule, *lines])


def number(value, digits=1):
    return f"{value:,.{digits}f}" if value else "-"


def rate(value):
    return number(value, 0 if value >= 100 else 1 if value >= 10 else 2)


def shape_text(shape):
    return f"({shape[0]}, {shape[1]})"
