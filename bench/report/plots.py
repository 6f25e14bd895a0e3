# SPDX-License-Identifier: BSD-3-Clause
"""All plots, as SVG. Series differ in colour (Okabe and Ito's, made for colour-blind readers), and also in
hatching or in marker and line, for those who see or print grey."""

import os

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of backend)
import pandas as pd  # noqa: E402

from . import codes, host, methods, products  # noqa: E402
from .frame import METHODS, WIDTHS, select  # noqa: E402
from .text import lines_of, size  # noqa: E402

plt.rcParams.update({"svg.hashsalt": "gfk", "figure.dpi": 72, "font.size": 9, "axes.titlesize": 9,
                     "figure.titlesize": 11, "axes.spines.top": False, "axes.spines.right": False,
                     "hatch.linewidth": 0.6, "axes.grid": True, "axes.axisbelow": True,
                     "grid.color": "0.88", "grid.linewidth": 0.5, "legend.frameon": False,
                     "legend.fontsize": 8, "lines.markersize": 4, "lines.linewidth": 1.2})
BARS = (("#0072B2", ""), ("#E69F00", "//"), ("#B6DCF2", ".."), ("#D55E00", "xx"), ("#CC79A7", "\\\\"),
        ("#009E73", "++"), ("#F0E442", "oo"))
LINES = (("#0072B2", "o", "-"), ("#E69F00", "s", "-"), ("#009E73", "^", "-"), ("#D55E00", "v", "--"),
         ("#CC79A7", "D", "-"), ("#56B4E9", "P", "--"), ("#000000", "x", "-"))


def panels(title, rows, columns, width, height, **options):
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained",
                                **options)
    figure.suptitle(title)
    return figure, axes


def legend(figure):
    """One for all panels, below them: inside, it would hide what is drawn."""
    found = {label: handle for axis in figure.axes for handle, label in
             zip(*axis.get_legend_handles_labels())}
    figure.legend(found.values(), found, loc="lower center", ncol=min(len(found), 5))
    below = 0.1 / figure.get_figheight() + 0.2 * -(-len(found) // 5) / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, below, 1, 1 - below))
    return figure


def bars(axis, frame, unit, log=False):
    """A group for each line of the frame, a bar for each column; bars of a group stand close together."""
    width = 0.8 / len(frame.columns)
    for i, (name, (colour, hatch)) in enumerate(zip(frame, BARS)):
        there = frame.notna()
        place = there.iloc[:, :i].sum(axis=1) - (there.sum(axis=1) - 1) / 2
        at = [j + shift * width for j, shift in enumerate(place)]
        axis.bar(at, frame[name], width, color=colour, hatch=hatch, edgecolor="black", linewidth=0.4,
                 label=name)
    axis.set_xticks(range(len(frame)), frame.index, fontsize=9 if len(frame) < 12 else 7)
    axis.set_xlim(-0.6, len(frame) - 0.4)
    axis.grid(visible=False, axis="x")
    axis.set_ylabel(unit)
    if log:
        axis.set_yscale("log")


def by_width(frames, title, unit, log=False, full=None):
    """A panel of bars for each width; frames: name of a series -> figures by (width, group)."""
    frames = pd.DataFrame(frames).dropna(how="all")
    widths = [w for w in WIDTHS if w in frames.index.get_level_values(0)]
    if not widths:
        return None
    figure, axes = panels(title, len(widths), 1, 10, 2.3 * len(widths) + 0.8)
    for axis, w in zip(axes[:, 0], widths):
        mine = frames.loc[w]
        bars(axis, mine.reindex(METHODS) if mine.index.isin(METHODS).all() else mine, unit, log)
        axis.set_title(f"w = {w}")
        if full:
            axis.axhline(100, color="black", linewidth=0.8, label=full)
    return legend(figure)


def cells(results, column, *others):
    found = {title: methods.cells(results, which) for which, title in methods.IMPLEMENTATIONS.items()}
    if all(frame.empty for frame in found.values()):
        found = {"reference, 1 thread": methods.cells(results, "host")}
    return {title: frame[column] for title, frame in {**found, **dict(others)}.items()}


def against_gf_complete(results):
    others = methods.gf_complete(results)
    return by_width(cells(results, "data_GBps", ("GF-Complete, all cores", others)),
                    "A constant times a region, beside GF-Complete (logarithmic)", "GB/s of source", log=True)


def percent_of_copy(results):
    return by_width(cells(results, "percent_of_roofline"),
                    "A constant times a region of 1 GiB, set, cold", "% of a plain copy", full="copy")


def powers(axis, counts):
    """A logarithmic axis that names the powers of two, of four where there are many."""
    axis.set_xscale("log", base=2)
    first, last = (int(count).bit_length() - 1 for count in (min(counts), max(counts)))
    at = [1 << i for i in range(first, last + 1, 1 if last - first < 9 else 4)]
    axis.set_xticks(at, at)
    axis.minorticks_off()


def lines(axis, points, style, label):
    colour, marker, dashes = LINES[style % len(LINES)]
    points.plot(ax=axis, color=colour, marker=marker, linestyle=dashes, label=label, legend=False)


def region_sizes(results):
    rows = methods.plain(results, giant=False, ablation=False, variant="", mode="set", state="measured")
    on_gpu = (rows["where"] == "gpu").any()
    rows = select(rows, implementation="opt" if on_gpu else "host", cold=bool(on_gpu))
    counts = sorted(rows.nominal_bytes.unique())
    if len(counts) < 2:
        return None
    column, unit = (("percent_of_roofline", "% of a copy of this size") if on_gpu else
                    ("data_GBps", "GB/s of source"))
    figure, axes = panels("A constant times a region, by its size: " + (
        "optimized kernels, set, cold" if on_gpu else "references of this library, 1 thread"), 1, 3, 11, 4.2,
        sharey=True)
    for axis, w in zip(axes[0], WIDTHS):
        mine = select(rows, w=w).sort_values("nominal_bytes")
        for style, method in enumerate(METHODS):
            points = select(mine, method=method).set_index("nominal_bytes")[column]
            if len(points):
                lines(axis, points, style, method)
        powers(axis, counts)
        axis.set_xticklabels([size(count) for count in axis.get_xticks()], rotation=45, ha="right")
        axis.set(title=f"w = {w}", xlabel="one region (logarithmic)", ylabel=unit)
        axis.set(**{"ylim": (0, None)} if on_gpu else {"yscale": "log"})
    return legend(figure)


def product_engines(results):
    rows = products.long_rows(results, mode="set", matrix="random", way="engine", state="measured")
    rows = rows[rows.id.map(products.short).isin(products.ENGINES)].copy()
    rows["shape"] = [f"({k}, {m})" for k, m in zip(rows.k, rows.m)]
    rows = rows.assign(size=rows.k * rows.m).sort_values("size", kind="stable")
    frames = {engine: rows[rows.id.map(products.short) == engine].set_index(["w", "shape"])
              .percent_of_roofline for engine in products.ENGINES}
    order = rows.drop_duplicates(["w", "shape"]).set_index(["w", "shape"]).index
    return by_width({name: found.reindex(order) for name, found in frames.items()},
                    "Products of 3 GiB of data, set, random matrix, over (k inputs, m outputs)",
                    "% of XOR-only", full="XOR-only")


def burst_and_sustained(results):
    rows = products.long_rows(results, mode="set", matrix="random", way="engine", state="measured")
    rows = rows[rows.sustained_data_GBps.notna() & (rows.k == 10) & (rows.m == 4)]
    rows = rows.assign(engine=rows.id.map(products.short)).set_index(["w", "engine"])
    return by_width({"burst": rows.data_GBps, "sustained for two seconds": rows.sustained_data_GBps},
                    "Products (10, 4), in bursts and at the power limit", "GB/s of data")


def one_map(axis, found, title):
    """Brightness is the percentage, which each cell says too, with the fastest engine below it."""
    values = found.percent_of_roofline.unstack("m").sort_index()
    image = axis.imshow(values, vmin=0, vmax=100, aspect="auto", origin="lower", cmap="cividis")
    axis.set_xticks(range(len(values.columns)), values.columns)
    axis.set_yticks(range(len(values.index)), values.index)
    axis.tick_params(length=0)
    axis.grid(visible=False)
    for (k, m), line in found.iterrows():
        axis.text(values.columns.get_loc(m), values.index.get_loc(k), f"{line.percent_of_roofline:.0f}\n"
                  + products.short(line.id).replace("perop_", ""), ha="center", va="center", fontsize=6.5,
                  linespacing=1.1, color="white" if line.percent_of_roofline < 55 else "black")
    axis.set(title=title, xlabel="m outputs", ylabel="k inputs")
    return image


def product_map(results):
    """A row of maps for each width and mode: with the engine that compiles the matrix in, and without."""
    found = {}
    for (w, mode, kind), frame in products.maps(results):
        found.setdefault((w, mode), []).append((kind, frame))
    if not found:
        return None
    heights = [max(frame.index.get_level_values("k").nunique() for _, frame in maps)
               for maps in found.values()]
    figure, axes = panels("Fastest engine for k inputs and m outputs, 1 GiB of data: percent of XOR-only",
                          len(found), 2, 10, 1.2 * len(found) + 0.36 * sum(heights),
                          height_ratios=[h + 2 for h in heights])
    for line, ((w, mode), maps) in zip(axes, found.items()):
        for axis, (kind, frame) in zip(line, maps):
            image = one_map(axis, frame, f"w = {w}, {mode}, {kind}")
        for axis in line[len(maps):]:
            axis.remove()
    figure.colorbar(image, ax=axes.ravel().tolist(), shrink=0.4, label="% of XOR-only")
    return figure


def libraries(results):
    rows = select(products.cpu_rows(results), w=8, state="measured").copy()
    if rows.empty:
        return None
    rows["series"] = [products.cpu_label(row) for row in lines_of(rows)]
    rows["shape"] = [f"({k}, {m})" for k, m in zip(rows.k, rows.m)]
    figure, axes = panels("Products on the CPU, w = 8 (logarithmic)", 1, 1, 9, 3.4)
    bars(axes[0, 0], rows.pivot_table(index="shape", columns="series", values="data_GBps", sort=False),
         "GB/s of data", log=True)
    axes[0, 0].set_xlabel("(k inputs, m outputs)")
    return legend(figure)


def code_sweep(results):
    rows = pd.concat(codes.sweep_rows(results))
    if rows.empty:
        return None
    ms, series = sorted(rows.m.unique()), list(dict.fromkeys(rows.series))
    columns = min(4, len(ms))
    figure, axes = panels("Encode and decode with regions of 1 MiB, w = 8, matrix as an argument "
                          "(both axes logarithmic)", -(-len(ms) // columns), columns, 2.8 * columns,
                          2.6 * -(-len(ms) // columns) + 0.6, sharey=True)
    for axis, m in zip(axes.flat, ms):
        for style, name in enumerate(series):
            points = select(rows, m=m, series=name).set_index("k").data_GBps.sort_index()
            if len(points):
                lines(axis, points, style, name)
        axis.set_yscale("log")
        powers(axis, rows.k)
        axis.set(title=f"m = {m}", xlabel="k data regions", ylabel="GB/s of data")
    for axis in list(axes.flat)[len(ms):]:
        axis.set_axis_off()
    return legend(figure)


def host_streams(results):
    """A panel for each code; what bounds a line is drawn in its colour, dotted."""
    rows = host.stream_rows(results)
    if rows.empty:
        return None
    cases = list(rows.groupby(["k", "m", "nominal_bytes"]))
    figure, axes = panels("Encode from host memory by one GPU, w = 8", 1, len(cases), 4.4 * len(cases), 3.6,
                          sharey=True)
    for axis, (_, mine) in zip(axes[0], cases):
        for style, (memory, found) in enumerate(mine.groupby("memory", sort=False)):
            lines(axis, found.set_index("streams").data_GBps, style, memory)
            axis.plot(found.streams, found.bound_GBps, linestyle=":", color=LINES[style][0],
                      label=found.bound.iloc[0])
        powers(axis, mine.streams)
        first = lines_of(mine)[0]
        axis.set(title=host.call(first), xlabel="streams (logarithmic)", ylabel="GB/s of data", ylim=(0, None))
    return legend(figure)


# By page and heading.
PLOTS = {("README", "Methods and widths"): against_gf_complete,
         ("methods", "Every method and width"): percent_of_copy, ("methods", "Region sizes"): region_sizes,
         ("products", "3 GiB of data"): product_engines,
         ("products", "Sustained rate and energy"): burst_and_sustained,
         ("products", "Fastest engine over k and m"): product_map,
         ("products", "Beside other libraries"): libraries, ("codes", "Over k and m"): code_sweep,
         ("host-memory", "Streams"): host_streams}


def draw(results, folder, ending="svg"):
    """Names of the files, by page and heading."""
    names = {}
    for key, plot in PLOTS.items():
        figure = plot(results)
        if figure is None:
            continue
        names[key] = f"{plot.__name__}.{ending}"
        figure.draw_without_rendering()  # lays out, each time a little differently: round, for the same bytes
        figure.set_layout_engine("none")
        for axis in figure.axes:
            axis.set_position([round(value, 4) for value in axis.get_position().bounds])
        figure.savefig(folder / names[key], **({"metadata": {"Date": None}} if ending == "svg" else {}))
        plt.close(figure)
        print(f"wrote {os.path.relpath(folder / names[key])}")
    return names
