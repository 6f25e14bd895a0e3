# SPDX-License-Identifier: BSD-3-Clause
"""All plots, as SVG. Series differ in colour (Okabe and Ito's, made for colour-blind readers), and also in marker and
line, for those who see or print grey."""

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
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "axes.axisbelow": True, "grid.color": "0.88", "grid.linewidth": 0.5, "legend.frameon": False,
    "legend.fontsize": 8, "lines.markersize": 4, "lines.linewidth": 1.2})
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#888888"]
MARKS = "os^vDPX*"
STYLES = ["o-", "s-", "^-", "v--", "D-", "P--", "x-", "*:"]


def dots(axis, frame, plot, names):
    """A line for each x, a mark for each series: a logarithmic axis has no zero, at which a bar could begin."""
    order = METHODS if plot.x == "method" else list(frame[plot.x].unique())
    place = frame[plot.x].map(order.index)
    for name, colour, mark in zip(names, COLOURS, MARKS):
        part = frame.series == name
        axis.plot(frame.y[part], place[part], mark, color=colour, label=name, markersize=6)
    axis.set_yticks(range(len(order)), order)
    axis.set_ylim(len(order) - 0.5, -0.5)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:,g}")
    if plot.line in frame:
        axis.axvline(frame[plot.line].iloc[0], color="black", linewidth=0.8, linestyle="--", label=plot.line)


def lines(axis, frame, plot, names):
    """x is a logarithmic axis that names the powers of two; where there are many, each second or fourth."""
    found = frame.pivot_table(index=plot.x, columns="series", values="y").reindex(columns=names)
    found.plot(ax=axis, legend=False, color=COLOURS, style=STYLES[:len(names)], logy=plot.log)
    axis.set_xscale("log", base=2)
    first, last = (int(count).bit_length() - 1 for count in (found.index.min(), found.index.max()))
    at = [1 << i for i in range(first, last + 1, 1 if last - first < 7 else 2 if last - first < 9 else 4)]
    sizes = plot.x == "nominal_bytes"
    axis.set_xticks(at, [size(count) if sizes else count for count in at], rotation=45 if sizes else 0)
    axis.minorticks_off()
    if not plot.log:
        axis.set_ylim(0, None)


def heat(axis, frame, plot, _):
    """A cell for each x and series."""
    found = frame.pivot_table(index="series", columns=plot.x, values="y")
    axis.imshow(found, cmap="cividis", vmin=50, vmax=100, aspect="auto")
    axis.set_xticks(range(len(found.columns)), found.columns)
    axis.set_yticks(range(len(found.index)), found.index)
    axis.grid(visible=False)
    for (i, series), (j, x) in itertools.product(enumerate(found.index), enumerate(found.columns)):
        y = found.loc[series, x]
        if y == y:
            axis.text(j, i, f"{y:.0f}", ha="center", va="center", fontsize=8, color="black" if y > 75 else "white")


@dataclasses.dataclass
class Plot:
    """A row of panels."""
    title: str
    rows: object  # a query, or a function of the results
    draw: object  # dots, lines or heat
    x: str
    series: str
    y: str
    labels: tuple  # of the axes
    panel: str = "w = {w}"  # template of a panel's title
    height: float = 3.4  # inches
    log: bool = False  # the y axis
    line: str = ""  # of dots: the column of a vertical line, and its name

    def panels(self, results):
        """Title and frame of each; none where nothing was measured."""
        frame = results.of(self.rows)
        frame = frame.assign(y=frame[self.y], series=frame[self.series])
        frame = frame[(frame.state == "measured") & frame.y.notna()].sort_values("w", kind="stable")
        enough = self.draw is not lines or frame[self.x].nunique() > 1
        return list(frame.groupby(texts(frame, self.panel), sort=False)) if enough else []


@dataclasses.dataclass
class Picture:
    """Rows of panels in one file, each with a legend of its own below it."""
    place: tuple  # page and heading
    name: str  # of the file
    title: str
    plots: list

    def figure(self, results):
        """None where nothing was measured."""
        found = [(plot, panels) for plot in self.plots if (panels := plot.panels(results))]
        if not found:
            return None
        heights = [plot.height for plot, _ in found]
        figure = plt.figure(layout="constrained", figsize=(10.5, sum(heights) + 0.4))
        figure.suptitle(self.title)
        parts = figure.subfigures(len(found), 1, squeeze=False, height_ratios=heights)[:, 0]
        for part, (plot, panels) in zip(parts, found):
            part.suptitle(plot.title, fontsize=10)
            axes = part.subplots(1, len(panels), squeeze=False, sharey=plot.draw is not heat)[0]
            names = list(dict.fromkeys(name for _, frame in panels for name in frame.series))
            for axis, (title, frame) in zip(axes, panels):
                plot.draw(axis, frame, plot, names)
                axis.set(title=title, xlabel=plot.labels[0], ylabel=plot.labels[1] if axis is axes[0] else "")
            shown = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels())}
            if shown:
                part.legend(shown.values(), shown, loc="outside lower center", ncol=min(len(shown), 4))
        return figure


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
            axes[title].set(title=f"(10, 4), {title}: GB/s of data", xlim=(0, 1.36 * part.data_GBps.max()), xticks=[])
            axes[title].grid(visible=False)
            axes[title].invert_yaxis()
        axis = axes["curves"]
        for colour, style, (m, part) in zip(COLOURS, STYLES, curves.groupby("m")):
            axis.plot(part.k, part.percent, style, color=colour, label=f"m = {m}")
        axis.set(title="k regions of data, m of parity, in GPU memory", ylim=(0, 105), xscale="log",
                 xlabel="k (logarithmic)", ylabel="% of a plain XOR kernel (same bytes)")
        ticks = [k for k in (2, 4, 8, 16, 32, 64) if k <= curves.k.max()]
        axis.set_xticks(ticks, ticks)
        axis.minorticks_off()
        axis.legend(loc="lower left", ncol=2)
        return figure


COPY = "a plain copy"


def series_of_methods(results):
    """With words for the series, and with the rate of a plain copy where a GPU is."""
    found = rows.overview(results)
    copy = results.rows.query("id == 'ceiling_copy' and state == 'measured' and where == 'gpu'").head(1).data_GBps
    threads = found[found.series == "GF-Complete"].threads.max()
    words = {"naive": "naive kernel", "optimized": "optimized kernel",
             "GF-Complete": f"GF-Complete, CPU, {threads} threads"}
    found = found.assign(series=found.series.replace(words))
    return found.assign(**{COPY: copy.iloc[0]}) if len(copy) else found


def by_size(results):
    """Optimized kernels where they are measured, references where no GPU is."""
    region = results.rows.query(f"kind == 'region' and {rows.PLAIN} and mode == 'set' and state == 'measured'")
    gpu = region.query("cold and implementation == 'opt' and variant == ''")
    host = region.query("implementation == 'host'")
    return gpu.assign(figure=gpu.percent) if len(gpu) else host.assign(figure=host.data_GBps)


PICTURES = [
    Picture(("README", "Methods and widths"), "methods", "A region times a constant",
            [Plot("GB/s of source, 1 GiB (logarithmic)", series_of_methods, dots, "method", "series", "data_GBps",
                  ("GB/s of source (logarithmic)", ""), line=COPY),
             Plot("Optimized kernels, by the size of one region", by_size, lines, "nominal_bytes", "method", "figure",
                  ("one region (logarithmic)", "% of a copy of this size"))]),
    Overview(),
    Picture(("products", "Fastest engine over k and m"), "products",
            "Products: the fastest engine, percent of a plain XOR kernel that moves the same bytes",
            [Plot("1 GiB of data, k inputs, m outputs", lambda results: rows.maps(results).query("mode == 'set'"), heat,
                  "m", "k", "percent", ("m outputs", "k inputs"), height=4.6)]),
    Picture(("matrices", "Products"), "matrices", "Matrices",
            [Plot("Product of an n x n matrix and n regions of 16 KiB (both axes logarithmic)",
                  lambda results: rows.curves(results, "matmul", "tmuladds_per_s", lambda gpu: gpu.bound_tmuladds_per_s),
                  lines, "k", "short", "figure", ("n", "10^12 multiply-adds of bytes/s"), log=True, height=4.2),
             Plot("Inverse of an n x n matrix (both axes logarithmic)",
                  lambda results: rows.curves(results, "invert", "ms", lambda gpu: gpu.ms * gpu.percent_of_bound / 100),
                  lines, "k", "short", "figure", ("n", "ms"), log=True, height=4.2)])]


def draw(results):
    """Names of the files, by page and heading."""
    names = {}
    for plot in PICTURES:
        figure = plot.figure(results)
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
