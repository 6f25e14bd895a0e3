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


def product(name, gbps, w=8, moved=1.4, roof=4300.0, **fields):
    """A row of products as gfk_bench writes it; k and m are in the name."""
    words = name.split("/")
    shape = next(word for word in words if "+" in word).split("+")
    fields = {"impl": "product", "w": float(w), "k": float(shape[0]), "m": float(shape[1]),
              "mode": "xor" if "xor" in words[1:] else "set", "roofline_GBps": roof,
              "traffic_GBps": gbps * moved, "percent_of_roofline": 100 * gbps * moved / roof,
              **fields}
    return row(name, gbps, **fields)


def products():
    """Results of the product presets: xor wins at small k when compiled, bmma at large k."""
    rows = []
    for w in results.WIDTHS:
        for k, m in ((10, 4), (30, 3)):
            code, size = f"{k}+{m}", "3GiB/set/cold"
            rows += [product(f"xor_only/{code}/{size}", 3070, id="xor_only", impl="ceiling",
                             variant="b16_128"),
                     product(f"xor_w{w}/{code}/{size}", 3000, w),
                     product(f"xor_w{w}/{code}/{size}/cauchy", 3010, w),
                     product(f"bmma_w{w}/{code}/{size}", 2500, w),
                     product(f"auto_w{w}/{code}/{size}", 2500, w, variant=f"bmma_w{w}"),
                     product(f"auto_w{w}_compile/{code}/{size}", 3000, w, variant=f"xor_w{w}"),
                     product(f"plain_w{w}/{code}/{size}", 100, w),
                     product(f"perop_log_w{w}/{code}/{size}", 700, w),
                     product(f"perop_log_w{w}_4/{code}/{size}", 300, w, labels="ablation"),
                     product(f"xor_w{w}/{code}/3GiB/xor/cold", 2400, w)]
        for k in (4, 10, 40):
            for m in (2, 4):
                fast = {"xor": 3000 if k < 40 else 1000, "bmma": 2000, "prmt": 1500 - 10 * k}
                rows.append(product(f"xor_only_few/{k}+{m}/1GiB/set/cold", 3070, impl="ceiling"))
                rows += [product(f"{engine}_w{w}/{k}+{m}/1GiB/set/cold", gbps, w)
                         for engine, gbps in fast.items()]
                rows.append(product(f"auto_w{w}/{k}+{m}/1GiB/set/cold", 2000, w,
                                    variant=f"bmma_w{w}"))
        small = {"bytes": 655360}
        rows += [product("xor_only/10+4/640KiB/set/cold", 1000, id="xor_only", impl="ceiling",
                         **small),
                 product(f"auto_w{w}/10+4/640KiB/set/cold", 900, w, variant=f"bmma_w{w}", **small),
                 product(f"first_call/bmma_w{w}/10+4", 100, w, setup_us=50.0),
                 product(f"specialise/xor_w{w}/10+4", 1, w, from_cache=0.0),
                 product(f"cache_hit/xor_w{w}/10+4", 900, w, from_cache=5.0),
                 product(f"product_host_time/bmma_w{w}/10+4", 100, w, id=f"bmma_w{w}",
                         call_us=2.9, bare_launch_us=2.3, above_bare_us=0.6)]
    cpu = {"where": "cpu", "roofline_GBps": 0.0, "percent_of_roofline": 0.0}
    rows += [product("isa-l/10+4/1GiB/set/cold/threads=1", 9, impl="isa-l", **cpu),
             product("isa-l/10+4/1GiB/set/cold/threads=16", 90, impl="isa-l", threads_used=16.0,
                     **cpu),
             product("isal_w8/10+4/1GiB/set/cold/threads=16", 95, threads_used=16.0, **cpu),
             product("host_w8/10+4/1MiB/set/hot/threads=1", 0.1, bytes=1 << 20, **cpu)]
    return {"context": {"gpu": "Test GPU", "commit": "abc"}, "benchmarks": rows}


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

    def test_products(self):
        contexts, rows = results.load_all([self.write("p.json", products())])
        page = tables.page("Test GPU", contexts, rows, {})
        for heading in ("prepared", "run-time matrix", "xor into the outputs", "over k and m",
                        "perop comparison", "small regions", "baselines",
                        "first call and specialisation", "host time of a run", "ceilings"):
            self.assertIn(f"## Products: {heading}", page)
        for line in (  # XOR-only, then the engines, each with its percentage
                "| (10, 4) | 3,070 | 3,000 (97.7 %) | 3,010 (98.0 %) | 3,000 (97.7 %) xor_w8 |",
                "| LOG | 700 (22.8 %) | 300 (9.8 %) | - | 700 (22.8 %) | 300 (9.8 %) | - |",
                "| w = 8 (10, 4) | 64 KiB | 0.66 | 0.73 (1.11) bmma_w8 | - | - | - | - | - |",
                "| (10, 4) | 3,000 (97.7 %) | 2,500 (81.4 %) | 700 (22.8 %) | 100 (3.3 %) "
                "| 9.00 | 90.0 | 95.0 | 0.10 |",
                "| k = 40 | 65 bmma | 65 bmma |",
                "| `bmma_w8` (10, 4) | 2.90 | 2.30 | 0.60 |"):
            self.assertIn(line, page)

    def test_product_preference(self):
        _, rows = results.load_all([self.write("p.json", products())])
        lines = [line for line in generated.product_preference(rows).splitlines()
                 if line.startswith("GFK_PREFER_ENGINE(8,")]
        self.assertEqual(lines, ["GFK_PREFER_ENGINE(8, 1, 0, 1, 25, 0, 0, 1, xor_w8)",
                                 "GFK_PREFER_ENGINE(8, 1, 0, 1, 0, 0, 0, 0, bmma_w8)",
                                 "GFK_PREFER_ENGINE(8, 1, 0, 1, 0, 0, 0, 0, prmt_w8)",
                                 "GFK_PREFER_ENGINE(8, 1, 0, 1, 0, 0, 0, 0, isal_w8)",
                                 "GFK_PREFER_ENGINE(8, 1, 0, 1, 0, 0, 0, 0, host_w8)"])
        _, none = results.load_all([self.write("a.json", sample())])
        self.assertIsNone(generated.product_preference(none))

    def test_ranges_and_rectangles(self):
        self.assertEqual(generated.ranges([2, 4, 10]), [(1, 3), (4, 7), (8, 0)])
        cells = {(0, 0): "a", (1, 0): "a", (2, 0): "b", (0, 1): "a", (1, 1): "a", (2, 1): "a",
                 (1, 2): "b"}
        self.assertEqual(generated.rectangles(cells, "klm", "rst"),
                         [[0, 1, 0, 0, "a"], [2, 2, 0, 0, "b"], [0, 2, 1, 1, "a"],
                          [1, 1, 2, 2, "b"]])

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
