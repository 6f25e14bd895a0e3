# SPDX-License-Identifier: BSD-3-Clause
"""Tests report.py and compare.py on made-up results, without matplotlib."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import bench_results as results
import report_generated as generated
import report_tables as tables

HERE = pathlib.Path(__file__).resolve().parent


def row(name, gbps, spread=0.01, suffix="/iterations:9/manual_time", **fields):
    """A row as gfk_bench writes it."""
    words = {"id": name.split("/")[0], "method": "", "impl": "", "variant": "", "labels": "",
             "mode": "set", "cache": "cold", "constants": "64 random in turn", "where": "gpu",
             "setup": ""}
    size = fields.pop("bytes", results.GIB)
    counters = {key: fields.pop(key) for key in list(fields) if key not in words and key != "note"}
    words.update(fields)
    us = size / gbps / 1e3
    moved = 2 if words["mode"] == "set" else 3
    return {"name": name + suffix, "run_type": "iteration", "bytes": float(size),
            "label": ";".join(f"{k}={v}" for k, v in words.items()), "w": 8.0, "threads_used": 1.0,
            "source_GBps": gbps, "traffic_GBps": gbps * moved, "roofline_GBps": 4200.0,
            "percent_of_roofline": 100 * gbps * moved / 4200, "setup_us": 0.0,
            "time_us_median": us, "time_us_min": us * (1 - spread), "time_us_max": us * (1 + spread),
            **counters}


def sample():
    rows = [row("ceiling/1GiB/set/cold", 2100, method="copy", impl="ceiling", variant="b16_256"),
            row("empty_launch", 1, impl="ceiling"),
            row("gather_4", 10, impl="ceiling", note="20.00 G gathers/s"),
            row("table_w32_naive/1GiB/set/cold/c=9", 20, labels="giant", method="TABLE",
                impl="naive", setup="prepare", w=32.0, note="5.00 G symbols/s")]
    limit = {"best_constant_GBps": 2010.0, "mean_constant_GBps": 1990.0,
             "worst_constant_GBps": 1900.0}
    for w in results.WIDTHS:
        common = {"w": float(w), "method": "SPLIT"}
        for impl, gbps in (("naive", 300), ("opt", 2000)):
            name = f"split_w{w}_{impl}"
            rows += [row(f"{name}/1GiB/set/cold", gbps, impl=impl, **common),
                     row(f"{name}/64KiB/set/cold", gbps / 9, bytes=65536, impl=impl, **common),
                     row(f"{name}/50000000/set/cold/c=128", gbps, bytes=50000000, impl=impl,
                         **common),
                     row(f"{name}/50000000/set/cold", gbps, bytes=50000000, impl=impl,
                         **limit, **common),
                     row(f"host_time/{name}", 1, impl=impl, call_us=3.1, bare_launch_us=2.0,
                         above_bare_us=1.1, prepared_call_us=3.0, prepared_above_bare_us=1.0,
                         **common)]
        rows += [row(f"split_w{w}_opt/2GiB/xor/cold/c=each64", 1400, bytes=2 << 30, impl="opt",
                     mode="xor", **limit, **common),
                 row(f"log_w{w}_naive_mod/1GiB/set/cold", 900, method="LOG", impl="naive",
                     labels="ablation", w=float(w)),
                 row(f"split_w{w}_host/16MiB/set/hot", 1, bytes=16 << 20, impl="host", where="cpu",
                     cache="hot", suffix="/min_time:0.100/real_time", **common),
                 row(f"gf_complete_w{w}_split/128MiB/threads=2", 18, bytes=128 << 20,
                     impl="gf-complete", where="cpu", threads_used=2.0, **common)]
    rows.append({"name": "group_w8_opt/1GiB/set/cold/iterations:9/manual_time",
                 "run_type": "iteration", "label": "id=group_w8_opt", "error_occurred": True,
                 "error_message": "FAILED: wrong result"})
    return {"context": {"gpu": "Test GPU", "commit": "abc", "verdict_01":
                        "Title|A claim.|log_w8_naive_mod/1GiB/set/cold,log_w8_naive_zero"},
            "benchmarks": rows}


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, data):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(json.dumps(data), encoding="utf-8")
        return str(path)

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, HERE / arguments[0], *arguments[1:]],
                              capture_output=True, text=True, check=False)

    def test_an_interrupted_run_keeps_its_rows(self):
        text = json.dumps(sample(), indent=2)
        path = pathlib.Path(self.folder.name) / "cut.json"
        path.write_text(text[:text.rindex("\n    }") + 6], encoding="utf-8")
        context, rows = results.load(str(path))
        self.assertIn("interrupted", context)
        self.assertEqual(len(sample()["benchmarks"]), len(rows))
        path.write_text(text[:text.rindex("\n    }")], encoding="utf-8")
        self.assertEqual(len(rows) - 1, len(results.load(str(path))[1]))

    def test_every_section_is_rendered(self):
        contexts, rows = results.load_all([self.write("a.json", sample())])
        page = tables.page("Test GPU", contexts, rows, {})
        for heading in ("Methods at 1 GiB", "Region sizes", "Limits", "Ceilings", "Verdicts",
                        "The published test case", "Giants", "Host time", "GF-Complete",
                        "Host references", "Rows without a number"):
            self.assertIn(f"## {heading}", page)
        self.assertIn("| SPLIT | 300 (14 %) | 2,000 (95 %) | 18.0 |", page)
        self.assertIn("FAILED: wrong result", page)
        self.assertNotIn("void", page)

    def test_void_runs_are_marked_and_give_way(self):
        void, good = sample(), sample()
        void["context"]["void"] = "too slow"
        for entry in void["benchmarks"]:
            entry["source_GBps"] = 1.0
        paths = [self.write("a.json", good), self.write("b.json", void)]
        contexts, rows = results.load_all(paths)
        page = tables.page("Test GPU", contexts, rows, {})
        self.assertIn("b.json is void: too slow", page)
        self.assertEqual(rows["split_w8_opt/1GiB/set/cold"].gbps, 2000)

    def test_preference(self):
        _, rows = results.load_all([self.write("a.json", sample())])
        lines = generated.preference(rows).splitlines()[3:]
        self.assertEqual(lines[:3], ["GFK_PREFER(8, split_w8_opt)", "GFK_PREFER(8, split_w8_naive)",
                                     "GFK_PREFER(8, split_w8_host)"])
        self.assertEqual(len(lines), 9)

    def test_readme_block(self):
        text = f"a\n{generated.BEGIN}\nold\n{generated.END}\nb\n"
        self.assertEqual(generated.replace_block(text, "new"),
                         f"a\n{generated.BEGIN}\nnew\n{generated.END}\nb\n")

    def test_check(self):
        path = self.write("a.json", sample())
        done = self.run_tool("report.py", "--check", "--preference", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(p.name for p in pathlib.Path(path).parent.iterdir()), ["a.json"])

    def test_compare(self):
        old, slow = sample(), sample()
        noisy = sample()
        for entry in slow["benchmarks"]:
            if entry["name"].startswith("split_w8_opt/1GiB"):
                for key in ("time_us_median", "time_us_min", "time_us_max"):
                    entry[key] *= 1.1
        for entry in noisy["benchmarks"]:
            if "time_us_median" in entry:
                entry["time_us_median"] *= 1.015
                entry["time_us_max"] *= 1.015
        a, b, c = (self.write(n, d) for n, d in
                   (("a.json", old), ("b.json", slow), ("c.json", noisy)))
        same = self.run_tool("compare.py", a, c)
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        worse = self.run_tool("compare.py", a, b)
        self.assertEqual(worse.returncode, 1)
        self.assertIn("slower    -9.1 %  split_w8_opt/1GiB/set/cold", worse.stdout)
        better = self.run_tool("compare.py", b, a)
        self.assertEqual(better.returncode, 0)
        self.assertIn("1 faster", better.stdout)


if __name__ == "__main__":
    unittest.main()
