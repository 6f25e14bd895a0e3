# SPDX-License-Identifier: BSD-3-Clause
"""The plots of results/<gpu>/README.md, as SVG."""

import os

import matplotlib

import bench_results as results
import report_products as products
import report_tables as tables

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "gfk", "font.size": 9, "axes.spines.top": False,
                            "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of backend)


def save(figure, folder, name, tight=True):
    if tight:
        figure.tight_layout()
    figure.savefig(folder / name, metadata={"Date": None})  # the same input, the same bytes
    plt.close(figure)
    print(f"wrote {os.path.relpath(folder / name)}")
    return name


def bars(axis, groups, series, values):
    """Grouped bars; values[i][j] is series i in group j, None where there is no row."""
    width = 0.8 / len(series)
    for i, name in enumerate(series):
        at = [j + (i - (len(series) - 1) / 2) * width for j in range(len(groups))]
        axis.bar(at, [value or 0 for value in values[i]], width, label=name)
    axis.set_xticks(range(len(groups)), groups)


def draw_percent(rows, folder):
    figure, axes = plt.subplots(3, 1, figsize=(8, 8), sharex=True)
    for axis, w in zip(axes, results.WIDTHS):
        values = []
        for impl in ("naive", "opt"):
            cells = [tables.cell(rows, method, w, impl) for method in results.METHODS]
            values.append([row.percent if row else None for row in cells])
        bars(axis, results.METHODS, ["naive", "optimized"], values)
        axis.axhline(100, color="black", linewidth=0.8)
        axis.set_ylabel(f"w = {w}\n% of copy")
    axes[0].legend(loc="lower left")
    axes[0].set_title("Percent of the copy roofline at 1 GiB, set, cold")
    return save(figure, folder, "percent.svg")


def draw_sizes(rows, folder):
    figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharey=True)
    for axis, w in zip(axes, results.WIDTHS):
        for method in results.METHODS:
            points = sorted((row.bytes, row.gbps) for row in rows.values()
                            if tables.is_sweep(row) and row.method == method and row.w == w
                            and row.impl == "opt" and not row.labels and not row.variant
                            and row.mode == "set" and row.cache == "cold" and row.gbps)
            if points:
                axis.plot(*zip(*points), marker="o", markersize=3, label=method)
        roof = sorted((row.bytes, row.gbps) for row in rows.values()
                      if row.name.startswith("ceiling/") and row.mode == "set"
                      and row.cache == "cold" and row.gbps)
        if roof:
            axis.plot(*zip(*roof), color="black", linestyle="--", label="copy")
        axis.set_xscale("log", base=2)
        axis.set_title(f"w = {w}")
        axis.set_xlabel("bytes of one region")
    axes[0].set_ylabel("GB/s of source, optimized")
    axes[0].legend(fontsize=7)
    return save(figure, folder, "sizes.svg")


def draw_baseline(rows, folder):
    figure, axes = plt.subplots(3, 1, figsize=(8, 8), sharex=True)
    for axis, w in zip(axes, results.WIDTHS):
        values = [[(lambda row: row.gbps if row else None)(tables.gf_complete(rows, m, w, True)
                                                           or tables.gf_complete(rows, m, w, False))
                   for m in results.METHODS]]
        for impl in ("naive", "opt"):
            cells = [tables.cell(rows, method, w, impl) for method in results.METHODS]
            values.append([row.gbps if row else None for row in cells])
        bars(axis, results.METHODS, ["GF-Complete, all cores", "naive", "optimized"], values)
        axis.set_yscale("log")
        axis.set_ylabel(f"w = {w}\nGB/s of source")
    axes[0].legend(loc="upper left", fontsize=7)
    axes[0].set_title("Against GF-Complete on all cores (logarithmic)")
    return save(figure, folder, "gf_complete.svg")


def draw_map(p, folder):
    maps = [(title, *products.map_values(p, row_id))
            for row_id, title in (("auto_w8_compile", "AUTO, compiled"), ("auto_w8", "AUTO"))]
    maps = [found for found in maps if found[1]]
    if not maps:
        return None
    figure, axes = plt.subplots(1, len(maps), figsize=(5.5 * len(maps), 5), squeeze=False)
    for axis, (title, ks, ms, found) in zip(axes[0], maps):
        values = [[found[k, m].percent if (k, m) in found else float("nan") for m in ms]
                  for k in ks]
        image = axis.imshow(values, vmin=0, vmax=100, aspect="auto", origin="lower")
        axis.set_xticks(range(len(ms)), ms)
        axis.set_yticks(range(len(ks)), ks)
        for row, line in enumerate(values):
            for column, value in enumerate(line):
                if value == value:  # measured
                    axis.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=7,
                              color="white" if value < 60 else "black")
        axis.set_title(f"{title}: % of XOR-only, w = 8")
        axis.set_xlabel("m outputs")
        axis.set_ylabel("k inputs")
    figure.colorbar(image, ax=axes[0].tolist())
    return save(figure, folder, "product_map.svg", tight=False)


def draw_engines(p, folder):
    groups = [(w, p.shapes(w)) for w in results.WIDTHS if p.shapes(w)]
    if not groups:
        return None
    figure, axes = plt.subplots(len(groups), 1, figsize=(11, 3 * len(groups)), squeeze=False)
    for axis, (w, shapes) in zip(axes[:, 0], groups):
        series = ("xor",) + products.RUN_TIME
        values = [[(lambda row: row.percent if row else None)(p.get(f"{engine}_w{w}", shape))
                   for shape in shapes] for engine in series]
        bars(axis, [products.shape_text(shape) for shape in shapes], series, values)
        axis.axhline(100, color="black", linewidth=0.8)
        axis.set_ylabel(f"w = {w}\n% of XOR-only")
        axis.tick_params(axis="x", labelsize=7)
    axes[0, 0].legend(loc="lower left", fontsize=7)
    axes[0, 0].set_title("Percent of the XOR-only kernel at 3 GiB of data, set, random matrix")
    return save(figure, folder, "product_engines.svg")


def draw_products(rows, folder):
    p = products.Products(rows)
    plots = {"Products: over k and m": draw_map(p, folder),
             "Products: prepared": draw_engines(p, folder)}
    return {heading: name for heading, name in plots.items() if name}


def draw(rows, folder):
    """Plots by the heading under which they stand."""
    plots = draw_products(rows, folder)
    if any(tables.is_sweep(row) and row.gbps for row in rows.values()):
        plots |= {"Methods at 1 GiB": draw_percent(rows, folder),
                  "Region sizes": draw_sizes(rows, folder),
                  "GF-Complete": draw_baseline(rows, folder)}
    return plots
