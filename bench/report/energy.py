# SPDX-License-Identifier: BSD-3-Clause
"""Joules of products in jobs of seconds, as a sum of terms in the numbers of inputs and outputs."""

import numpy
import pandas as pd

# Rates of gfk_bench --preset long in several runs: the run, and columns of report.py --csv.
SUSTAINED = "engines-sustained.csv"
# Engines at w = 8 and the shapes where their kernels do the same work for each output, or for each input and output;
# how many outputs they compute at a time, needed or not.
KERNELS = (("prmt_w8", "all", "k > 0", True, 1),
           ("bmma_w8", "up to 16 inputs, 6 and more outputs, in twos", "k <= 16 and m >= 6", False, 2),
           ("bmma_w8", "17 to 32 inputs, outputs in fours", "k > 16 and k <= 32", False, 4),
           ("bmma_w8", "33 to 64 inputs, outputs in eights", "k > 32", False, 8))


def span(values):
    low, high = (f"{value:.3f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def sums(results):
    """For each engine the joules for a GB of each input, of each output and of each pair of them, fitted by least squares
    of the relative error to each run of engines-sustained.csv: the span over the runs, and the root mean square error."""
    file, found = results.folder / SUSTAINED, []
    rates = pd.read_csv(file) if file.exists() else None
    for engine, shapes, condition, pairs, panel in KERNELS if file.exists() else ():
        terms, errors = [], []
        for _, of in rates.query(f"engine == @engine and {condition}").groupby("run"):
            k, m, joules = of.k, -(of.m // -panel) * panel, of.k / of.data_GB_per_joule  # for a GB of each input
            columns = numpy.column_stack([k, m, k * m] if pairs else [k, m]) / joules.to_numpy()[:, None]
            terms.append(numpy.linalg.lstsq(columns, numpy.ones(len(of)), rcond=None)[0])
            errors.append(100 * numpy.sqrt(((columns @ terms[-1] - 1) ** 2).mean()))
        spans = [span(each) for each in zip(*terms)]
        found.append({"engine": engine, "shapes": shapes, **dict(zip(("input", "output", "pair"), spans)),
                      "error": max(errors)})
    return pd.DataFrame(found)
