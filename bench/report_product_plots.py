# SPDX-License-Identifier: BSD-3-Clause
"""The plots of products and codes, as SVG."""

import bench_results as results
import report_drawing as drawing
import report_products as products
import report_rs as rs
from report_text import shape_text


def draw_one_map(axis, found, title):
    """Brightness is the percentage, which each cell says too, with the fastest engine below it."""
    ks, ms = (sorted({shape[axis_of] for shape in found}) for axis_of in (0, 1))
    values = [[found[k, m][0].percent if (k, m) in found else float("nan") for m in ms]
              for k in ks]
    image = axis.imshow(values, vmin=0, vmax=100, aspect="auto", origin="lower", cmap="cividis")
    axis.set_xticks(range(len(ms)), ms)
    axis.set_yticks(range(len(ks)), ks)
    axis.tick_params(length=0)
    for (k, m), (best, _) in found.items():
        engine = products.short_id(best.id).replace("perop_", "")
        axis.text(ms.index(m), ks.index(k), f"{best.percent:.0f}\n{engine}", ha="center",
                  va="center", fontsize=6.5, linespacing=1.1,
                  color="white" if best.percent < 55 else "black")
    axis.set_title(title, fontsize=9)
    axis.set_xlabel("m outputs")
    axis.set_ylabel("k inputs")
    return image


def draw_map(p, folder):
    """A row of maps for each width and mode that was measured: with the engine that compiles the
    matrix in, and without."""
    found = {}
    for w, mode, kind, values in products.maps(p):
        found.setdefault((w, mode), []).append((kind, values))
    if not found:
        return None
    heights = [max(len({k for k, _ in values}) for _, values in maps) for maps in found.values()]
    figure, axes = drawing.figure_of(len(found), 2, 10, 1.2 * len(found) + 0.36 * sum(heights),
                                     height_ratios=[height + 2 for height in heights])
    for line, ((w, mode), maps) in zip(axes, found.items()):
        for axis in line[len(maps):]:
            axis.remove()
        for axis, (kind, values) in zip(line, maps):
            image = draw_one_map(axis, values, f"w = {w}, {mode}, {kind}")
    figure.suptitle("Fastest engine for k inputs and m outputs, 1 GiB of data: percent of the "
                    "XOR-only kernel")
    figure.colorbar(image, ax=axes.ravel().tolist(), shrink=0.4, label="% of XOR-only")
    return drawing.save(figure, folder, "product_map.svg")


def draw_engines(p, folder):
    groups = [(w, sorted(p.shapes(w), key=lambda shape: shape[0] * shape[1]))
              for w in results.WIDTHS if p.shapes(w)]
    if not groups:
        return None
    series = ("xor",) + products.RUN_TIME
    figure, axes = drawing.figure_of(len(groups), 1, 11, 2.6 * len(groups) + 0.6)
    for axis, (w, shapes) in zip(axes[:, 0], groups):
        values = [[(lambda row: row.percent if row else None)(p.get(f"{engine}_w{w}", shape))
                   for shape in shapes] for engine in series]
        drawing.bars(axis, [shape_text(shape) for shape in shapes], series, values)
        axis.axhline(100, color="black", linewidth=0.8)
        axis.set_ylabel(f"w = {w}\n% of XOR-only")
        axis.tick_params(axis="x", labelsize=8)
    axes[-1, 0].set_xlabel("(k inputs, m outputs), by their product")
    figure.suptitle("Percent of the XOR-only kernel at 3 GiB of data, set, random matrix")
    drawing.bar_legend(axes[-1, 0], ("xor (compiled)",) + products.RUN_TIME)
    return drawing.save(figure, folder, "product_engines.svg")


def draw_sweep(rows, folder):
    """A panel for each m; the last place has the legend."""
    series = rs.sweep_rows(rows)
    ms = sorted({shape[1] for found in series.values() for shape in found})
    if not ms:
        return None
    columns = min(4, len(ms) + 1)
    lines = len(ms) // columns + 1
    figure, axes = drawing.figure_of(lines, columns, 2.9 * columns, 2.7 * lines, sharex=True,
                                     sharey=True)
    panels = axes.ravel()
    for axis, m in zip(panels, ms):
        for style, (name, found) in enumerate(series.items()):
            points = [(shape[0], row.gbps) for shape, row in found.items() if shape[1] == m]
            if points:
                drawing.line(axis, points, style, name)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter("{x:.0f}")
        axis.tick_params(labelbottom=True)
        axis.grid(color="0.85", linewidth=0.5)
        axis.set_title(f"m = {m}", fontsize=9)
        axis.set_xlabel("k data regions")
    for axis in axes[:, 0]:
        axis.set_ylabel("GB/s of data")
    for axis in panels[len(ms):]:
        axis.set_axis_off()
    panels[len(ms)].legend(*panels[0].get_legend_handles_labels(), loc="center")
    figure.suptitle("Encode and decode with regions of 1 MiB, w = 8, matrix as an argument "
                    "(both axes logarithmic)")
    return drawing.save(figure, folder, "rs_sweep.svg")


def draw(rows, folder):
    """Plots by the heading under which they stand."""
    p = products.Products(rows)
    plots = {"Products: over k and m": draw_map(p, folder),
             "Products: prepared": draw_engines(p, folder),
             "Codes: over k and m": draw_sweep(rows, folder)}
    return {heading: name for heading, name in plots.items() if name}
