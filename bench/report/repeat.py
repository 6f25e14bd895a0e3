# SPDX-License-Identifier: BSD-3-Clause
"""A record that was made twice, by the same commit: rows have figures of both runs. How far the runs differ, and
whether AUTO's choice holds in both."""

import functools

import pandas as pd

KEYS = ["file", "row", "roofline", "where", "kind", "operation", "method", "w", "region_bytes"]
FAR = 5.0  # percent between the runs, from which on a figure counts as far
WORST = 20  # figures that are named
CLOSE = 97.0  # percent of the fastest engine that AUTO should have
FIGURES = {"time_us_median": "us", "data_GBps": "GB/s", "sustained_data_GBps": "GB/s, sustained",
           "data_GB_per_joule": "GB/J"}
CHOICES = (("bursts", "auto", "data_GBps"), ("sustained", "auto", "sustained_data_GBps"))
# Why a figure differs: the first query that a row fits.
REASONS = {"where == 'cpu'": "cores, caches and memory of a server with other work",
           "kind in ('python', 'ranks', 'call', 'create') or operation == 'packet' or kind == 'rlnc' and "
           "operation == 'decode'": "the time of a CPU thread is in it",
           "kind == 'host'": "memory and buses of a server with other work",
           "0 < region_bytes <= 1024": "it is the time of a launch",
           "operation == 'gather' or method in ('TABLE', 'LOG') and w == 32": "lookups past L1: GPUs of one model differ"}


def runs(results):
    """What the record was made with."""
    return pd.DataFrame(results.contexts).reindex(
        columns=["file", "interrupted", "commit", "date_utc", "second_date_utc", "command", "of_package"])


@functools.lru_cache(maxsize=1)  # two tables are made of it
def pairs(results):
    """A line for each figure that both runs have. spread: percent by which the larger one exceeds the other."""
    rows, found = results.every[results.every.state == "measured"], []
    for figure, what in FIGURES.items():
        both = rows[[*KEYS, figure, f"second_{figure}"]].dropna()
        found.append(both.set_axis([*KEYS, "first", "again"], axis=1).assign(what=what))
    rows = pd.concat(found, ignore_index=True)
    high, low = rows[["first", "again"]].max(axis=1), rows[["first", "again"]].min(axis=1)
    return rows.assign(spread=(100 * (high / low - 1)).astype(float))


def spreads(results):
    """By run; `of_all`, `of_gpu`, `of_cpu`: the median of all rows, of those on GPUs, of those on the CPU."""
    rows = pairs(results)
    lines = rows.groupby("file").spread.agg(rows="size", median="median", far=lambda each: (each > FAR).sum())
    of = {f"of_{place}": rows[rows["where"] == place].spread.median() for place in ("gpu", "cpu")}
    return lines.reset_index().assign(of_all=rows.spread.median(), **of)


def worst(results):
    rows = pairs(results).query(f"spread > {FAR}").sort_values("spread", ascending=False, kind="stable")
    found = rows.head(WORST).assign(reason="", all=len(rows))
    for query, reason in REASONS.items():
        found.loc[(found.reason == "") & found.eval(query), "reason"] = reason
    return found


@functools.lru_cache(maxsize=1)  # likewise
def cells(results):
    """A line for each run, kind of choice, and cell of the map or of the long products: percent of the fastest engine
    that the choice has. The kernel that AUTO took has a row of its own, whose rate counts if it is higher."""
    keys, found, every = ["few", "w", "k", "m", "nominal_bytes"], [], results.every
    again = every[every.second_time_us_median.notna()].drop_duplicates(["row", "few"], keep="last")
    again = again.assign(data_GBps=again.data_GBps * again.time_us_median / again.second_time_us_median,
                         sustained_data_GBps=again.second_sustained_data_GBps)
    for run, of in {"first": results.rows, "second": again}.items():
        rows = of.query("kind == 'product' and where == 'gpu' and matrix == 'random' and mode == 'set' and "
                        "state == 'measured'")
        for which, way, figure in CHOICES:
            engines = rows[rows.way == "engine"].dropna(subset=figure)
            best = engines.sort_values(figure).drop_duplicates(keys, keep="last")
            auto = rows[rows.way == way].dropna(subset=figure)
            auto = auto.merge(best[[*keys, "id", figure]], on=keys, suffixes=("", "_best"))
            own = engines[[*keys, "id", "kernel", figure]].rename(columns={"id": "engine", figure: "own"})
            auto = auto.merge(own, on=[*keys, "engine", "kernel"], how="left")
            reached = 100 * auto[[figure, "own"]].max(axis=1) / auto[f"{figure}_best"]
            found.append(auto.assign(run=run, which=which, reached=reached,
                                     shapes=auto.few.map({True: "of the map", False: "others"})))
    return pd.concat(found)


def choice(results):
    lines = cells(results).groupby(["shapes", "run", "which"]).reached.agg(
        cells="size", slower=lambda each: (each < CLOSE).sum(), least="min")
    return lines.reset_index()


def slower(results):
    return cells(results).query(f"reached < {CLOSE}").sort_values("reached")
