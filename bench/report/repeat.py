# SPDX-License-Identifier: BSD-3-Clause
"""A record that was made twice, by the same commit: the files of the second run are in the folder second. How far the
runs differ, and whether AUTO's choice holds in both."""

import functools

import pandas as pd

from . import package, preference
from .frame import Results, parse, typed

KEYS = ["file", "row", "roofline", "where"]  # of a figure, in both runs
FAR = 5.0  # percent between the runs, from which on a row is named
CLOSE = 97.0  # percent of the fastest engine that AUTO should have
FIGURES = {"time_us_median": "us", "sustained_data_GBps": "GB/s, sustained", "data_GB_per_joule": "GB/J", "pJ": "pJ",
           "us": "us", "gb_s": "GB/s", "ms": "ms"}
CHOICES = (("compiling allowed", "auto_compile", "", "data_GBps"), ("run-time matrix", "auto", "xor", "data_GBps"),
           ("run-time matrix, sustained", "auto_sustained", "xor", "sustained_data_GBps"))


def second(results):
    return sorted((results.folder / "second").glob("*.json"))


@functools.cache
def context(path):
    """None in a file of the Python package."""
    return parse(path.read_text(encoding="utf-8")).get("context")


def runs(results):
    """What the record was made with: the files of the pages and of the second run."""
    others = [path for path in second(results) if context(path)]
    contexts = [*results.contexts,
                *({**context(path), "file": path.relative_to(results.folder).as_posix()} for path in others)]
    return pd.DataFrame(contexts).reindex(columns=["file", "interrupted", "commit", "date_utc", "command"]).assign(
        package=(results.folder / "python.json").exists(), second=bool(second(results)))


def measured(path):
    data = parse(path.read_text(encoding="utf-8"))
    if package.is_of_package(data):
        return pd.DataFrame(package.figures(data["rows"])).assign(file=path.name, roofline="")
    rows = typed([{**row, "file": path.name} for row in data["benchmarks"]])
    return rows.query("state == 'measured'").drop_duplicates(["row", "roofline"], keep="last")


@functools.lru_cache(maxsize=1)  # two tables are made of it
def pairs(results):
    """A line for each figure that both runs have. spread: percent by which the larger one exceeds the other."""
    found = []
    for path in second(results):
        if (results.folder / path.name).exists():
            both = measured(results.folder / path.name), measured(path)
            for figure, what in FIGURES.items():
                first, again = (rows.reindex(columns=[*KEYS, figure]).rename(columns={figure: name}).dropna()
                                for rows, name in zip(both, ("first", "again")))
                found.append(first.merge(again, on=KEYS).assign(what=what))
    rows = pd.concat(found) if found else pd.DataFrame(columns=[*KEYS, "what", "first", "again"])
    high, low = rows[["first", "again"]].max(axis=1), rows[["first", "again"]].min(axis=1)
    return rows.assign(spread=(100 * (high / low - 1)).astype(float))


def spreads(results):
    """By file; `of_all`, `of_gpu`, `of_cpu`: the median of all rows, of those on GPUs, of those on the CPU."""
    rows = pairs(results)
    lines = rows.groupby("file").spread.agg(rows="size", median="median", far=lambda each: (each > FAR).sum())
    of = {f"of_{place}": rows[rows["where"] == place].spread.median() for place in ("gpu", "cpu")}
    return lines.reset_index().assign(of_all=rows.spread.median(), **of)


def every(results):
    """All pairs as CSV."""
    return pairs(results)[["file", "row", "what", "first", "again", "spread"]].to_csv(
        index=False, float_format="%.6g", lineterminator="\n")


def far(results):
    return pairs(results).query(f"spread > {FAR}").sort_values("spread", ascending=False, kind="stable")


@functools.lru_cache(maxsize=1)  # likewise
def cells(results):
    """A line for each run, kind of choice, and cell of the map or of the long products: percent of the fastest engine
    that the choice has. The kernel that AUTO took has a row of its own, whose rate counts if it is higher."""
    keys, found, runs = ["few", "w", "k", "m", "nominal_bytes"], [], {"first": results}
    files = [path for path in second(results) if context(path)]
    if files:
        runs["second"] = Results(files)
    for run, of in runs.items():
        rows = of.rows.query("kind == 'product' and where == 'gpu' and matrix == 'random' and mode == 'set' and "
                             "state == 'measured'")
        for which, way, without, figure in CHOICES:
            engines = rows[(rows.way == "engine") & (rows.family != without)].dropna(subset=figure)
            best = engines.sort_values(figure).drop_duplicates(keys, keep="last")
            auto = rows[rows.way == way].dropna(subset=figure)
            auto = auto.merge(best[[*keys, "id", figure]], on=keys, suffixes=("", "_best"))
            own = engines[[*keys, "id", "kernel", figure]].rename(columns={"id": "engine", figure: "own"})
            auto = auto.merge(own, on=[*keys, "engine", "kernel"], how="left")
            reached = 100 * auto[[figure, "own"]].max(axis=1) / auto[f"{figure}_best"]
            found.append(auto.assign(run=run, which=which, reached=reached,
                                     shapes=auto.few.map({True: "of the map", False: "others"})))
    return pd.concat([*found, in_jobs_of_seconds(results)])


def jobs_of_seconds(results):
    """For each shape of engines-sustained.csv, with and without compiling: the rates of the engines that AUTO may take, a
    column for each run, and the engines that preference.def names for jobs of seconds and for bursts."""
    text = preference.PRODUCTS.read_text(encoding="utf-8")
    for (w, k, m), of in preference.sustained_rates(results).groupby(["w", "k", "m"]):
        rates = of.pivot_table(index="engine", columns="run", values="sustained_data_GBps")
        for compiles in (1, 0):
            yield (w, k, m, compiles, preference.allowed(rates, compiles),
                   *(preference.taken(text, w, m, k, compiles, sustained) for sustained in (True, False)))


def in_jobs_of_seconds(results):
    """The same for jobs of seconds and the engines that preference.def names. An engine that is not in
    engines-sustained.csv is far ahead of those that are, or far behind them, in bursts: then there is no line."""
    found = []
    for w, k, m, compiles, rates, takes, _ in jobs_of_seconds(results):
        for run, may in rates.items():
            may = may.dropna()
            if takes in may and len(may) > 1:
                found.append({"shapes": f"of the map, {preference.SUSTAINED}", "run": f"run {run}",
                              "which": ("run-time matrix", "compiling allowed")[compiles] + ", sustained",
                              "row": f"w{w}/{k}+{m}/1GiB", "engine": takes, "id_best": may.idxmax(),
                              "reached": 100 * may[takes] / may.max()})
    return pd.DataFrame(found)


def engines_for_seconds(results):
    """The shapes where AUTO takes another engine for jobs of seconds than in bursts, with the rates of both in each run."""
    found = []
    for w, k, m, compiles, rates, seconds, bursts in jobs_of_seconds(results):
        if seconds != bursts and {seconds, bursts} <= set(rates.index):
            percent = 100 * rates.loc[bursts] / rates.loc[seconds]
            found.append({"w": w, "shape": f"({k}, {m})", "compile": ("no", "yes")[compiles], "bursts": bursts,
                          "seconds": seconds, "rates": ", ".join(f"{rate:,.0f}" for rate in rates.loc[seconds]),
                          "percents": ", ".join(f"{each:.1f}" for each in percent)})
    return pd.DataFrame(found)


def choice(results):
    """Only for a record that was made twice."""
    if not second(results):
        return pd.DataFrame()
    lines = cells(results).groupby(["shapes", "run", "which"]).reached.agg(
        cells="size", slower=lambda each: (each < CLOSE).sum(), least="min")
    return lines.reset_index()


def slower(results):
    return cells(results).query(f"reached < {CLOSE}").sort_values("reached") if second(results) else pd.DataFrame()
