# SPDX-License-Identifier: BSD-3-Clause
"""All plots, as SVG. Series differ in colour (Okabe and Ito's, made for colour-blind readers), and also in
hatching or in marker and line, for those who see or print grey."""

import dataclasses
import itertools
import os

import matplotlib

if matplotlib.__version_info__ < (3, 7):
    raise ModuleNotFoundError(name="matplotlib 3.7")
matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of backend)
import pandas as pd  # noqa: E402

from . import rows  # noqa: E402
from .frame import METHODS  # noqa: E402
from .text import size, texts  # noqa: E402

plt.rcParams.update({
    "svg.hashsalt": "gfk", "figure.dpi": 72, "font.size": 9, "axes.titlesize": 9, "figure.titlesize": 11,
    "axes.spines.top": False, "axes.spines.right": False, "hatch.linewidth": 0.6, "axes.grid": True,
    "axes.axisbelow": True, "grid.color": "0.88", "grid.linewidth": 0.5, "legend.frameon": False,
    "legend.fontsize": 8, "lines.markersize": 4, "lines.linewidth": 1.2})
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#888888"]
HATCHES = ["", "//", "..", "xx", "\\\\", "++", "oo"]
STYLES = ["o-", "s-", "^-", "v--", "D-", "P--", "x-", "*:"]


def bars(axis, frame, plot, names):
    """A group for each x, a bar for each series."""
    order = METHODS if plot.x == "method" else frame[plot.x].unique()
    found = frame.pivot_table(index=plot.x, columns="series", values="y").reindex(index=order, columns=names)
    found.plot.bar(ax=axis, width=0.8, rot=0, legend=False, color=COLOURS, edgecolor="black", linewidth=0.4,
                   logy=plot.log)
    for container, hatch in zip(axis.containers, HATCHES):
        plt.setp(container, hatch=hatch)
    axis.grid(visible=False, axis="x")
    axis.tick_params(axis="x", labelsize=9 if len(found) < 12 else 7)
    if plot.full:
        axis.axhline(100, color="black", linewidth=0.8, label=plot.full)


def lines(axis, frame, plot, names):
    """x is a logarithmic axis that names the powers of two, of four where there are many."""
    found = frame.pivot_table(index=plot.x, columns="series", values="y").reindex(columns=names)
    found.plot(ax=axis, legend=False, color=COLOURS, style=STYLES[:len(names)], logy=plot.log)
    axis.set_xscale("log", base=2)
    first, last = (int(count).bit_length() - 1 for count in (found.index.min(), found.index.max()))
    at = [1 << i for i in range(first, last + 1, 1 if last - first < 9 else 4)]
    sizes = plot.x == "nominal_bytes"
    axis.set_xticks(at, [size(count) if sizes else count for count in at], rotation=45 if sizes else 0)
    axis.minorticks_off()
    if not plot.log:
        axis.set_ylim(0, None)


def heat(axis, frame, plot, _):
    """A cell for each x and series: y, and below it the bound where that is below 100."""
    found = frame.pivot_table(index="series", columns=plot.x, values="y")
    bound = frame.pivot_table(index="series", columns=plot.x, values="bound", dropna=False)
    bound = bound.reindex(index=found.index, columns=found.columns)
    axis.imshow(found, cmap="cividis", vmin=0, vmax=100, aspect="auto")
    axis.set_xticks(range(len(found.columns)), found.columns)
    axis.set_yticks(range(len(found.index)), found.index)
    axis.grid(visible=False)
    for (i, series), (j, x) in itertools.product(enumerate(found.index), enumerate(found.columns)):
        y, most = found.loc[series, x], bound.loc[series, x]
        axis.text(j, i, f"{y:.0f}" + (f"\nof {most:.0f}" if most < 100 else ""), ha="center", va="center", fontsize=7,
                  color="black" if y > 60 else "white")


@dataclasses.dataclass
class Plot:
    place: tuple  # page and heading
    name: str  # of the file
    title: str
    rows: object  # a query, or a function of the results
    draw: object  # bars, lines or heat
    x: str
    series: str
    y: str
    labels: tuple  # of the axes
    panel: str = "w = {w}"  # template of a panel's title
    columns: int = 1  # of panels
    panel_size: tuple = (10, 2.3)
    log: bool = False  # the y axis
    full: str = ""  # what 100 % is

    def figure(self, results):
        """None where nothing was measured."""
        frame = results.of(self.rows)
        frame = frame.assign(y=frame[self.y], series=frame[self.series])
        frame = frame[(frame.state == "measured") & frame.y.notna()]
        found = list(frame.groupby(texts(frame, self.panel), sort=False))
        if not found or self.draw is lines and frame[self.x].nunique() < 2:
            return None
        columns = min(self.columns, len(found))
        count = -(-len(found) // columns)
        inches = columns * self.panel_size[0], count * self.panel_size[1] + 0.8
        figure, axes = plt.subplots(count, columns, squeeze=False, layout="constrained", figsize=inches,
                                    sharey=self.draw is lines)
        figure.suptitle(self.title)
        for axis, (title, part) in zip(axes.flat, found):
            self.draw(axis, part, self, list(dict.fromkeys(frame.series)))
            axis.set(title=title, xlabel=self.labels[0], ylabel=self.labels[1])
        for axis in axes.flat[len(found):]:
            axis.remove()
        shown = {label: handle for axis in axes.flat
                 for handle, label in zip(*axis.get_legend_handles_labels())}
        # One legend for all panels, below them: inside, it would hide what is drawn.
        if shown:
            figure.legend(shown.values(), shown, loc="outside lower center", ncol=min(len(shown), 5))
        return figure


def paces(results):
    """Two lines for each product: in bursts, and over seconds."""
    found = rows.sustained(results).query("kind == 'product'")
    return pd.concat([found.assign(pace="bursts", GBps=found.data_GBps),
                      found.assign(pace="two seconds without a pause", GBps=found.sustained_data_GBps)])


def streams(results):
    """Two lines for each kind of memory: the call, and what bounds it."""
    found = rows.calls(results).query("streams > 0").sort_values(["k", "memory"])
    return pd.concat([found.assign(what=found.memory, GBps=found.data_GBps),
                      found.assign(what=found.bound, GBps=found.bound_GBps)])


class Overview:
    """The picture of the project's README: who encodes how fast where the data are, and what a product reaches of the
    memory's speed."""
    place, name = ("README", "Products and codes"), "overview"

    @staticmethod
    def figure(results):
        """None without a GPU."""
        places, curves = rows.places(results), rows.reached(results)
        if places.empty or curves.empty:
            return None
        figure = plt.figure(layout="constrained", figsize=(10, 3.8))
        figure.suptitle(f"Reed-Solomon encode, w = 8, {' '.join(results.machines())}")
        groups = list(places.groupby("group", sort=False))
        axes = figure.subplot_mosaic([[title, "curves"] for title, _ in groups], width_ratios=(1.15, 1),
                                     height_ratios=[len(part) for _, part in groups])
        for colour, (title, part) in zip(COLOURS, groups):
            drawn = axes[title].barh(part.label, part.data_GBps, color=colour, edgecolor="black", linewidth=0.4)
            axes[title].bar_label(drawn, part.figure, padding=3)
            axes[title].set(title=f"(10, 4), {title}: GB/s of data", xlim=(0, 1.2 * part.data_GBps.max()), xticks=[])
            axes[title].grid(visible=False)
            axes[title].invert_yaxis()
        axis = axes["curves"]
        for colour, style, (m, part) in zip(COLOURS, STYLES, curves.groupby("m")):
            axis.plot(part.k, part.percent, style, color=colour, label=f"m = {m}")
        axis.set(title="k regions of data, m of parity, in GPU memory", ylim=(0, 105), xscale="log",
                 xlabel="k (logarithmic)", ylabel="% of a plain XOR kernel that moves the same bytes")
        ticks = [k for k in (2, 4, 8, 16, 32, 64) if k <= curves.k.max()]
        axis.set_xticks(ticks, ticks)
        axis.minorticks_off()
        axis.legend(loc="lower left", ncol=2)
        return figure


REGIONS = f"kind == 'region' and {rows.PLAIN} and mode == 'set'"
SIZES = {"title": "A constant times a region, by its size", "x": "nominal_bytes", "series": "method",
         "draw": lines, "columns": 3, "panel_size": (3.7, 3.6)}
PLOTS = [  # of several with the same place the first that has anything to show
    Plot(("README", "Methods and widths"), "against_gf_complete",
         "A constant times a region, beside GF-Complete (logarithmic)",
         rows.overview, bars, "method", "series", "data_GBps", ("", "GB/s of source"), log=True),
    Overview(),
    Plot(("methods", "Region sizes"), "region_sizes", y="percent",
         rows=f"{REGIONS} and cold and implementation == 'opt' and variant == ''",
         labels=("one region (logarithmic)", "% of a copy of this size, cold"), **SIZES),
    Plot(("methods", "Region sizes"), "region_sizes", y="data_GBps", log=True,
         rows=f"{REGIONS} and implementation == 'host'",
         labels=("one region (logarithmic)", "GB/s of source, 1 thread"), **SIZES),
    Plot(("products", "3 GiB of data"), "product_engines",
         "Products of 3 GiB of data, set, random matrix, over (k inputs, m outputs)",
         lambda results: rows.long_products(results).query(
             f"mode == 'set' and label in {rows.ENGINES}"),
         bars, "shape", "short", "percent", ("", "% of XOR-only"), full="XOR-only"),
    Plot(("products", "Sustained rate and energy"), "sustained", "Products in bursts and over seconds",
         paces, bars, "id", "pace", "GBps", ("", "GB/s of data"), "{code}", columns=2, panel_size=(6, 2.3)),
    Plot(("products", "Fastest engine over k and m"), "product_map",
         "The fastest engine, percent of XOR-only, and what the tensor cores allow", rows.maps, heat, "m", "k", "percent", ("m outputs", "k inputs"), columns=3, panel_size=(5, 4.5)),
    Plot(("matrices", "Products"), "matmul",
         "n x n matrices times n regions of 16 KiB (both axes logarithmic)",
         lambda results: rows.curves(results, "matmul", "tmuladds_per_s", lambda gpu: gpu.bound_tmuladds_per_s),
         lines, "k", "short", "figure", ("n", "10^12 multiply-adds of bytes/s"), columns=3, panel_size=(3.9, 3.9),
         log=True),
    Plot(("matrices", "Inverses"), "invert", "Inverses of n x n matrices (both axes logarithmic)",
         lambda results: rows.curves(results, "invert", "ms", lambda gpu: gpu.ms * gpu.percent_of_bound / 100),
         lines, "k", "short", "figure", ("n", "ms"), columns=3, panel_size=(3.9, 3.9), log=True),
    Plot(("codes", "Over k and m"), "code_sweep",
         "Encode and decode with regions of 1 MiB, w = 8, matrix as an argument (both axes logarithmic)",
         rows.sweep, lines, "k", "series", "data_GBps", ("k data regions", "GB/s of data"), "m = {m}",
         columns=4, panel_size=(2.8, 2.6), log=True),
    Plot(("host-memory", "Streams"), "host_streams", "Encode from host memory by one GPU, w = 8",
         streams, lines, "streams", "what", "GBps", ("streams (logarithmic)", "GB/s of data"), "{call}",
         columns=2, panel_size=(4.4, 2.8))]


def draw(results):
    """Names of the files, by page and heading."""
    names = {}
    for plot in PLOTS:
        figure = plot.figure(results) if plot.place not in names else None
        if figure is None:
            continue
        names[plot.place] = f"{plot.name}.svg"
        figure.draw_without_rendering()  # lays out, each time a little differently: round, for the same bytes
        figure.set_layout_engine("none")
        for axis in figure.axes:
            axis.set_position([round(value, 4) for value in axis.get_position().bounds])
        figure.savefig(results.folder / names[plot.place], metadata={"Date": None})
        plt.close(figure)
        print(f"wrote {os.path.relpath(results.folder / names[plot.place])}")
    return names
