# SPDX-License-Identifier: BSD-3-Clause
"""The plots of results/<gpu>/README.md, as SVG; those of regions are drawn here."""

import bench_results as results
import report_drawing as drawing
import report_host_plots
import report_product_plots
import report_tables as tables


def draw_percent(rows, folder):
    figure, axes = drawing.figure_of(3, 1, 8, 8, sharex=True)
    for axis, w in zip(axes[:, 0], results.WIDTHS):
        values = []
        for impl in ("naive", "opt"):
            cells = [tables.cell(rows, method, w, impl) for method in results.METHODS]
            values.append([row.percent if row else None for row in cells])
        drawing.bars(axis, results.METHODS, ["naive", "optimized"], values)
        axis.axhline(100, color="black", linewidth=0.8)
        axis.set_ylabel(f"w = {w}\n% of copy")
    figure.suptitle("Percent of the copy roofline at 1 GiB, set, cold")
    drawing.bar_legend(axes[-1, 0], ["naive", "optimized"])
    return drawing.save(figure, folder, "percent.svg")


def draw_sizes(rows, folder):
    figure, axes = drawing.figure_of(1, 3, 11, 4, sharey=True)
    for axis, w in zip(axes[0], results.WIDTHS):
        for style, method in enumerate(results.METHODS):
            points = sorted((row.bytes, row.gbps) for row in rows.values()
                            if tables.is_sweep(row) and row.method == method and row.w == w
                            and row.impl == "opt" and not row.labels and not row.variant
                            and row.mode == "set" and row.cache == "cold" and row.gbps)
            if points:
                drawing.line(axis, points, style, method)
        roof = sorted((row.bytes, row.gbps) for row in rows.values()
                      if row.name.startswith("ceiling/") and row.mode == "set"
                      and row.cache == "cold" and row.gbps)
        if roof:
            axis.plot(*zip(*roof), color="black", linestyle=":", label="copy")
        axis.set_xscale("log", base=2)
        axis.set_title(f"w = {w}")
        axis.set_xlabel("bytes of one region")
        axis.legend(fontsize=7, loc="upper left")
    axes[0, 0].set_ylabel("GB/s of source, optimized")
    return drawing.save(figure, folder, "sizes.svg")


def draw_baseline(rows, folder):
    series = ["GF-Complete, all cores", "naive", "optimized"]
    figure, axes = drawing.figure_of(3, 1, 8, 8, sharex=True)
    for axis, w in zip(axes[:, 0], results.WIDTHS):
        values = [[(lambda row: row.gbps if row else None)(tables.gf_complete(rows, m, w, True)
                                                           or tables.gf_complete(rows, m, w, False))
                   for m in results.METHODS]]
        for impl in ("naive", "opt"):
            cells = [tables.cell(rows, method, w, impl) for method in results.METHODS]
            values.append([row.gbps if row else None for row in cells])
        drawing.bars(axis, results.METHODS, series, values)
        axis.set_yscale("log")
        axis.set_ylabel(f"w = {w}\nGB/s of source")
    figure.suptitle("Against GF-Complete on all cores (logarithmic)")
    drawing.bar_legend(axes[-1, 0], series)
    return drawing.save(figure, folder, "gf_complete.svg")


def draw(rows, folder):
    """Plots by the heading under which they stand."""
    plots = report_product_plots.draw(rows, folder) | report_host_plots.draw(rows, folder)
    if any(tables.is_sweep(row) and row.gbps for row in rows.values()):
        plots |= {"Methods at 1 GiB": draw_percent(rows, folder),
                  "Region sizes": draw_sizes(rows, folder),
                  "GF-Complete": draw_baseline(rows, folder)}
    return plots
