#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the claims and the report of the papers on made-up results. Needs pandas."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from report_test import ON_CPU, PANDAS, SAMPLE, Case, row  # noqa: E402

if PANDAS:
    import papers

# What the papers say in lines of their own, and how many lines each has.
LINES = {"gpu-rscode": ("S1", 22), "gf-gpu": ("S2", 17), "opencl": ("S3", 14),
         "gibraltar": ("S4", 20), "nuclei": ("S5", 12)}


@unittest.skipUnless(PANDAS, "pandas is not installed")
class PapersTest(Case):
    """Claims are data, so their queries and expressions are tested here: a run without a GPU evaluates none."""

    def run_of(self, rows, **context):
        return papers.Run([self.write("papers.json", rows, paper="all", **context)])

    def test_verdicts(self):
        test = "tests/rlnc/vectors_test.cpp: RlncVectors.Philox"
        run = self.run_of([row("a/1", 100), row("b/1", 190), row("c/1", 101), row("d/1", 50)])
        for ours, fields, expected in (
                ("b", {"effect": "faster"}, "reproduced"), ("c", {"effect": "faster"}, "no longer matters"),
                ("d", {"effect": "faster"}, "reversed"), ("d", {"effect": "slower"}, "reproduced"),
                ("c", {"effect": "same"}, "reproduced"), ("b", {"effect": "same"}, "reversed"),
                ("b", {"paper": 1.5}, "reproduced"), ("d", {"paper": 1.5}, "reversed"),
                ("b", {"reproduced": "ours > 1.8"}, "reproduced"), ("c", {"reproduced": "ours > 1.8"}, "reversed"),
                ("c", {"reproduced": "ours > 1.8", "reversed": "ours < 0.9"}, "no longer matters"),
                ("e", {"effect": "faster"}, "not run here"), ("b", {"not_run": "no FPGA"}, "not run here"),
                ("e", {"paper": 1.5, "test": test}, "not run here"),
                ("d", {"effect": "faster", "test": test}, "reversed"),
                ("e", {"test": test}, "works"), ("e", {}, "not run here"), ("b", {}, "works"),
                ("b", {"test": test}, "works")):
            found = papers.outcome({"rows": {"a": "id == 'a'", "x": f"id == '{ours}'"},
                                    "ours": "best(x) / best(a)", "why": "{ours:.1f}", **fields}, run)
            self.assertEqual(found.verdict, expected, fields)
        self.assertEqual((found.here.split(";")[0], found.why), ("1.90 x", "1.9"))
        for named in "tests/rlnc/vectors_test.cpp: RlncVectors.Nothing", "bench/core/nvml.cpp: nvml":
            self.assertRaises(SystemExit, papers.named_test, named)

    def test_rules_say_which_figure(self):
        rules = {"reproduced": "ours > 1.8", "ours": "1.5", "here": "{2:.1f} and {ours:.1f}"}
        found = papers.outcome(rules, self.run_of([]))
        self.assertEqual(found.here, "2.0 and **1.5**")
        self.assertEqual(found.rule, "reproduced if `ours > 1.8`, otherwise reversed")
        self.assertIn("otherwise no longer matters", papers.rule({**rules, "reversed": "ours < 1"}))
        for name in papers.NAMES:
            for claim in papers.read(name)["claim"]:
                for case in papers.cases(claim, {}):
                    if re.search(r"\bours\b", case.get("reproduced", "") + case.get("reversed", "")):
                        self.assertRegex(case.get("here", "{ours}"), r"\{[^{}]*\bours\b", claim["line"])

    def test_without_counts(self):
        """Of a text the sentences stay that need none."""
        run = self.run_of([row("a/1", 2)], gpu="a GPU")
        claim = {"rows": {"a": "id == 'a'"}, "ours": "best(a)", "effect": "faster",
                 "why": "{sass('kernel.cu: k', 'LDS'):.0f} loads. It has {best(a):.1f} GB/s."}
        self.assertEqual(papers.outcome(claim, run).why, "It has 2.0 GB/s.")
        self.assertIn("were not counted", papers.source_line(run))
        self.assertIn("were not counted", papers.outcome({**claim, "ours": "sass('k')"}, run).why)

    def test_ratios_to_a_cpu_have_a_margin(self):
        """Two runs of one build gave 1.01 and 1.07, 1.02 and 0.71: the verdict is the same."""
        claims = {claim["line"]: claim for name in papers.NAMES for claim in papers.read(name)["claim"]}
        for line, label, figures in (("S3-10", "over ISA-L", (1.01, 1.07)),
                                     ("S4-1", "all cores of a CPU", (1.02, 0.714))):
            claim = next(each for each in papers.cases(claims[line], {}) if each["label"] == label)
            for ours in figures:
                run = papers.Figures(self.run_of([]), {}, {"ours": ours, "paper": 2})
                self.assertEqual(papers.judge(claim, run), "no longer matters", line)

    def test_labels_are_listed_with_commas(self):
        for name in papers.NAMES:
            for claim in papers.read(name)["claim"]:
                found = [case.get("label", "") for case in claim.get("case", [])]
                if len(found) <= papers.FEW:
                    self.assertFalse([label for label in found if "," in label], claim["line"])

    def test_a_ratio_is_of_one_run(self):
        """As for rows that need two GPUs, in a file of their own beside a row that both files have."""
        claim = {"rows": {"one": "id == 'one'", "two": "id == 'two'"}, "ours": "best(two) / best(one)", "paper": 2}
        run = papers.Run([self.write("a.json", [row("one/1", 10), row("two/1", 18)], paper="all"),
                          self.write("b.json", [row("one/1", 12), row("three/1", 1), row("four/1", 1)], paper="all")])
        found = papers.outcome(claim, run)
        self.assertEqual((found.ours, found.file), (1.8, "`a.json`"))
        with_more = {**claim, "rows": {**claim["rows"], "of_why": "id in ['three', 'four']"}}
        self.assertEqual(papers.outcome(with_more, run).ours, 1.8)
        other = papers.outcome({**claim, "rows": {"one": "id == 'three'", "two": claim["rows"]["two"]}}, run)
        self.assertEqual((other.verdict, other.why), ("not run here", "Not run here: no run has all its rows."))
        self.assertEqual(papers.outcome({**claim, "ours": "best(one)", "rows": {"one": claim["rows"]["one"]}}, run).ours,
                         12)

    def test_rows_of_the_cpu_do_not_need_a_gpu(self):
        run = self.run_of([row("a/1", 1)], gpu="")
        for query, reason in (("id == 'b'", "no GPU"), ("id == 'b' and where == 'cpu'", "this run does not have the rows")):
            self.assertRaisesRegex(papers.NotRun, f"^{reason}$", run.measured, query)

    def test_carry_free(self):
        """Memory speed without tables leaves nothing to gain; what was not measured says so."""
        run = self.run_of([row("a/1", percent_of_roofline=95.2), row("b/1", percent_of_roofline=60)])
        queries = {name: f"id == '{name}'" for name in "abc"}
        for name, expected in (("a", "no longer matters: 95 % of memory speed"),
                               ("b", "still matters: 60 % of memory speed"), ("c", "not measured in this run")):
            self.assertEqual(papers.outcome({"carry_free": name}, run, queries).carry_free, expected)
        self.assertEqual(papers.outcome({}, run, queries).carry_free, "-")

    def test_rows_that_older_runs_lack(self):
        claim = {"rows": {"new": "id == 'new'", "old": "id == 'old'", "base": "id == 'base'"},
                 "ours": "best(new) if has('new') else best(old) / best(base)"}
        older = [row("old/1", 50), row("base/1", 25)]
        self.assertEqual(papers.outcome(claim, self.run_of(older)).ours, 2)
        self.assertEqual(papers.outcome(claim, self.run_of([*older, row("new/1", 7)])).ours, 7)

    def test_functions(self):
        rows = [row(f"{name}/{size}", rate, nominal_bytes=size) for name, rates in
                (("a", (10, 20, 30, 30)), ("b", (5, 25, 20, 40))) for size, rate in zip((1, 2, 4, 8), rates)]
        figures = papers.Figures(self.run_of(rows, gpu_multiprocessors="100", gpu_clock_max="2000 MHz"),
                                 {"a": "id == 'a'", "b": "id == 'b'", "c": "id == 'a' and nominal_bytes < 8"})
        for expression, expected in (
                ("best(a)", 30), ("most(b, 'data_GBps').nominal_bytes", 8),
                ("gains(b, a, 'nominal_bytes').min()", 0.5), ("crossover(b, a)", 8),
                ("crossover(a, b) == inf", True), ("crossover(b, c) == inf", True), ("per_clock(best(b))", 0.2),
                ("best(b, 'time_us_median') == best(b, 'time_us_min')", False)):
            self.assertEqual(figures.value(expression), expected, expression)

    def test_every_claim(self):
        """All queries name fields that bench/README.md or CLAIMS.md lists; all expressions and templates can be evaluated."""
        run = self.run_of(SAMPLE["benchmarks"], gpu_multiprocessors="132", gpu_clock_max="1980 MHz")
        documented = set()
        for name in "bench/README.md", "papers/CLAIMS.md":
            documented |= set(re.findall(r"\w+", (papers.ROOT / name).read_text(encoding="utf-8")))
        any_row = run.rows[run.rows.state == "measured"].head(1).dropna(axis=1)
        missing = (documented | set(run.rows)) - set(any_row)
        any_row = any_row.join(papers.pd.DataFrame(1.0, index=any_row.index, columns=sorted(missing)))
        seen = set()

        def measured(query):
            names = set(re.findall(r"[a-z_]\w*", re.sub(r"'[^']*'", "", query))) - {"and", "or", "not", "in"}
            self.assertLessEqual(names, documented | {"on", "str", "contains", "startswith"}, query)
            if query not in seen:
                run.rows.assign(**{name: 1.0 for name in names - set(run.rows)}).query(query)
            seen.add(query)
            return any_row

        run.measured = measured
        papers.Figures.count, counted = lambda *_: 1, papers.Figures.count
        self.addCleanup(setattr, papers.Figures, "count", counted)
        for name in papers.NAMES:
            data = papers.read(name)
            paper, count = LINES[name]
            self.assertEqual([claim["line"] for claim in data["claim"]],
                             [f"{paper}-{i + 1}" for i in range(count)], "a line is missing")
            for claim in data["claim"]:
                for case in papers.cases(claim, data.get("define", {})):
                    with self.subTest(claim["line"]):
                        found = papers.outcome(case, run, papers.substituted(data["carry_free"], data.get("define", {})))
                        self.assertNotRegex(found.carry_free, "not measured")
                        self.assertIn(found.verdict, papers.WORDS)
                        self.assertEqual(found.verdict == "not run here", "not_run" in case)
                        self.assertRegex(case.get("not_run", "FPGA"), "FPGA|APU|GPUs")
                        self.assertTrue(found.why, "no sentence says why")
                        text = (found.why + found.here + found.paper).replace("{root}", "")
                        self.assertNotRegex(text, r"[{}$]")
                        for figures in [papers.Figures(run, case.get("rows", {}), {"ours": 1.0, "paper": 1.0})]:
                            for each in case["why"] if isinstance(case.get("why"), list) else []:
                                figures.text(each["text"])
                            for rule in papers.WORDS[:2]:
                                figures.value(case.get(rule, "1"))
        self.assertTrue(seen)

    def test_pages(self):
        """On a machine without a GPU."""
        of_gpu = {key: "" for key in SAMPLE["context"] if re.match("gpu|cuda", key)}
        found = papers.pages([self.write("papers.json", ON_CPU, paper="all", **of_gpu)], self.folder)
        self.assertEqual(set(found), {"README.md", *(f"{name}/README.md" for name in papers.NAMES)})
        for name, page in found.items():
            self.assertIn("has no GPU", page, name)
            self.assertIn("not run here", page, name)
            for anchor in re.findall(r"\]\(#([^)]+)\)", page):
                self.assertIn(f"### {anchor.upper()}\n", page)


if __name__ == "__main__":
    unittest.main()
