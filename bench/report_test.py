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
import report_overview
import report_products
import report_rs as rs
import report_tables as tables
from report_host_test import HostTest  # noqa: F401  (so that it runs with the rest)
from report_samples import code, codes, product, products, row, sample, sweep

HERE = pathlib.Path(__file__).resolve().parent


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

    def test_a_disturbed_row_yields_to_an_earlier_one(self):
        name = "split_w8_opt/1GiB/set/cold"

        def at(file, gbps, spread):
            data = {"context": {"gpu": "Test GPU"},
                    "benchmarks": [row(name, gbps, spread, impl="opt", method="SPLIT")]}
            return self.write(file, data)
        quiet, later, disturbed = (at("a.json", 2000, 0.01), at("b.json", 2100, 0.01),
                                   at("c.json", 1500, 0.2))
        for paths, expected in (((quiet, later), 2100), ((quiet, later, disturbed), 2100),
                                ((disturbed, quiet), 2000), ((disturbed,), 1500)):
            _, rows = results.load_all(paths)
            self.assertEqual(rows[name].gbps, expected)
            self.assertEqual(len(rows[name].earlier), len(paths) - 1)

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
                "| k = 4 | 98 xor | 98 xor |",
                "| k = 40 | 65 bmma | 65 bmma |",
                "| `bmma_w8` (10, 4) | 2.90 | 2.30 | 0.60 |"):
            self.assertIn(line, page)

    def test_map_names_the_fastest_engine(self):
        data = products()
        for entry in data["benchmarks"]:  # AUTO takes bmma; prmt is made faster than all
            if entry["name"].startswith("prmt_w8/4+2/1GiB"):
                entry["source_GBps"], entry["percent_of_roofline"] = 3060.0, 99.6
        other = product("bmma_w8/40+4/1GiB/set/cold", 3000, roof=5000.0)  # of another run
        data["benchmarks"].append(other)
        _, rows = results.load_all([self.write("p.json", data)])
        p = report_products.Products(rows)
        maps = {(w, kind): found for w, mode, kind, found in report_products.maps(p)}
        self.assertEqual(len(maps), 6)
        best, auto = maps[8, report_products.EVERY][4, 2]
        self.assertEqual((best.id, auto), ("prmt_w8", None))
        self.assertEqual(maps[8, report_products.EVERY][10, 4][0].id, "xor_w8")
        self.assertEqual(maps[8, report_products.NOT_COMPILED][10, 4][0].id, "bmma_w8")
        self.assertEqual(maps[8, report_products.EVERY][40, 4][0].id, "prmt_w8")
        self.assertIn("| k = 4 | 100 prmt (AUTO 65 bmma) | 65 bmma |",
                      report_products.heat_map(p))

    def code_page(self, *data):
        paths = [self.write(f"{i}.json", one) for i, one in enumerate(data)]
        contexts, rows = results.load_all(paths)
        return tables.page("Test GPU", contexts, rows, {})

    CODE_LINES = (  # decode beside encode, one lost, verify, locate beside verify, update, ...
        "| w = 8 (10, 4) | compiled | xor_w8 | 3,000 (97.7 %) | 3,030 (101.0 %) | 3,000 (100.0 %) "
        "| 2,880 (96.0 %) | at least 97 % | 46.00 |",
        "| w = 8 (10, 4) | run time | bmma_w8 | 2,800 (91.2 %) | 2,828 (101.0 %) "
        "| 2,800 (100.0 %) | 2,688 (96.0 %) | at least 97 % | 46.00 |",
        "| w = 8 (10, 4) | run time | bmma_w8 | 3,800 | 4,180 | 97.2 | at least 95 % |",
        "| w = 8 (10, 4) | compiled | xor_w8 | 2,850 (84.9 %) | at least 95 % | 2,790 (97.9 %) "
        "| at least 100 % |",
        "| w = 8 (10, 4) | compiled | 400 | 4,000 | 95.2 | at least 95 % |",
        "| encode w = 8 (10, 4) | 4,096 x 4 KiB | 2,100 | 2,800 | 75.0 | at least 75 % | 79.89 "
        "| 0.82 |",
        "| decode w = 8 (10, 4) | 4,096 x 16 KiB | 2,520 | 2,800 | 90.0 | at least 75 % | 266.31 "
        "| 2.70 |",
        "| w = 8 (223, 32) | bmma_w8 | 13.78 | 1,250 | 33.2 | 2.58 | 0.05 | it runs |",
        "| w = 8 (10, 4) | 5.50 | 8.25 | at most 1,000 us | 1.50 | 2.25 | at most 20 us |",
        "| w = 32 (128, 128) | 700.00 | 1,050.00 | at most 50,000 us | - | - "
        "| at most 20,000 us |",
        "| `rs_update_w16/10+2/322122240` | ABOVE 101 % of its ceiling: 104.3 % |")

    def test_codes(self):
        page = self.code_page(codes())
        for line in self.CODE_LINES:
            self.assertIn(line, page)
        self.assertEqual(page.count("w = 8 (223, 32)"), 1)
        for heading in ("## Products:", "## Methods", "## Every cell"):
            self.assertNotIn(heading, page)

    def test_codes_are_beside_their_own_shape_and_run(self):
        """Rows that are not what a ratio is of: another shape, length, width, another run."""
        data = codes()
        size = "10+4/322122240"
        data["benchmarks"] += [
            code("rs_encode_w8/17+3/200MiB", 9000.0), code("rs_verify_w8/10+4/512", 9000.0),
            code("rs_encode_w8/10+4/512MiB", 9000.0, w=16.0, id="rs_encode_w16"),
            code("rs_encode_w8/10+4/1MiB", 9000.0), code("rs_encode_w8_compile/10+4/512", 9000.0)]
        before = codes()
        before["benchmarks"] = [code(f"rs_encode_w8{how}/{size}", 9000.0)
                                for how in ("", "_compile")] \
            + [code(f"rs_verify_w8{how}/{size}", 9000.0) for how in ("", "_compile")]
        page = self.code_page(before, data)
        for line in self.CODE_LINES:
            self.assertIn(line, page)
        after = self.code_page(data, before)  # now the lone rows count: no ratio is of two runs
        self.assertIn("| 9,000 (293.0 %) | 3,030 (101.0 %) |", after)
        self.assertNotIn("9,000 (293.0 %) | 3,030 (33.7 %)", after)

    def test_codes_with_rows_missing(self):
        data = codes()
        data["benchmarks"] = [entry for entry in data["benchmarks"] if not entry["name"].startswith(
            ("rs_encode_w8_compile/10+4", "rs_verify_w8/", "rs_create_w8"))
            and "lost=4 parity" not in entry["name"]]
        page = self.code_page(data)
        for line in ("| w = 8 (10, 4) | compiled | - | - | 3,030 (- %) | - | 2,880 (- %) "
                     "| at least 97 % | 46.00 |",
                     "| w = 8 (10, 4) | run time | bmma_w8 | - | at least 95 % | 2,604 (- %) "
                     "| at least 100 % |",
                     "| w = 8 (10, 4) | - | - | at most 1,000 us | 1.50 | 2.25 | at most 20 us |"):
            self.assertIn(line, page)

    def test_every_row_of_codes_is_somewhere(self):
        whole = self.code_page(codes())
        for i, entry in enumerate(codes()["benchmarks"]):
            data = codes()
            del data["benchmarks"][i]
            self.assertNotEqual(whole, self.code_page(data), entry["name"])

    def test_sweep(self):
        data = sweep(ks=(4, 8), ms=(2, 16))
        data["benchmarks"].append(code("rs_encode_w8/10+4/322122240", 2800.0))
        contexts, rows = results.load_all([self.write("s.json", data)])
        series = rs.sweep_rows(rows)
        self.assertEqual({name: sorted(found) for name, found in series.items()},
                         {name: [(4, 2), (4, 16), (8, 2), (8, 16)] for name in
                          ("encode", "decode", "ISA-L, 16 threads", "Jerasure, 1 thread")})
        page = tables.page("Test GPU", contexts, rows, {})
        for line in ("| GB/s of data | k = 4 | k = 8 |", "| m = 2, encode | 320 (11 %) |",
                     "| m = 16, decode | 120 (6 %) | 240 (11 %) |",
                     "| m = 16, ISA-L, 16 threads | 12.5 | 12.5 |"):
            self.assertIn(line, page)
        self.assertNotIn("Products: baselines", page)
        self.assertNotIn("w = 8 (4, 2)", page)  # in no table of long regions

    def test_overview_shows_what_there_is(self):
        both = {"context": {"gpu": "Test GPU"},
                "benchmarks": products()["benchmarks"] + codes()["benchmarks"]}
        encode = "| encode (10, 4) | {} | {} | {} | XORs 10 regions into 4 |"
        decode = "| decode (10, 4), 4 lost, data and parity | 2,880 (94 %) | 2,688 (88 %) | - "
        for data, there, absent in (
                (both, encode.format("3,000 (98 %)", "2,800 (91 %)", "90.0"), "(4, 2)"),
                (products(), encode.format("3,000 (98 %)", "2,500 (81 %)", "90.0"), "decode"),
                (codes(), decode, "(30, 3)")):
            _, rows = results.load_all([self.write("a.json", data)])
            text = report_overview.block(rows)
            self.assertIn(there, text)
            self.assertIn("3 GiB", text)
            self.assertNotIn(absent, text)
        self.assertIn("| update (10, 4) by one changed region | 400 (95 %) | 400 (95 %) |", text)
        self.assertIn("4 KiB regions in one launch | - | 2,100 (68 %) |", text)
        _, rows = results.load_all([self.write("a.json", sample())])
        self.assertEqual(report_overview.block(rows), "")
        self.assertIn("SPLIT", tables.overview(rows))

    def test_readme(self):
        readme = pathlib.Path(self.folder.name) / "TOP.md"  # README.md there is the index
        readme.write_text(f"a\n{generated.BEGIN}\nold\n{generated.END}\nb\n", encoding="utf-8")
        folder = pathlib.Path(self.folder.name) / "gpu"
        folder.mkdir()
        for name, data in (("a.json", sample()), ("b.json", codes())):
            (folder / name).write_text(json.dumps(data), encoding="utf-8")
            done = self.run_tool("report.py", "--no-plots", "--readme", readme,
                                 *sorted(folder.glob("*.json")))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = readme.read_text(encoding="utf-8")
            self.assertEqual("verify (10, 4)" in text, name == "b.json")
            self.assertIn("| SPLIT | 300 (14 %)", text)
            self.assertNotIn("old", text)

    def test_product_preference(self):
        _, rows = results.load_all([self.write("p.json", products())])
        lines = [line for line in generated.product_preference(rows).splitlines()
                 if line.startswith("GFK_PREFER_ENGINE(8,")]
        short = 4 << 20
        self.assertEqual(lines, [f"GFK_PREFER_ENGINE(8, 1, 0, 1, 0, 0, {short}, 0, bmma_w8)",
                                 f"GFK_PREFER_ENGINE(8, 1, 0, 1, 0, 0, {short}, 0, prmt_w8)",
                                 "GFK_PREFER_ENGINE(8, 1, 0, 1, 25, 0, 0, 1, xor_w8)",
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

    def test_compare_codes(self):
        old, new = codes(), codes()
        for entry in new["benchmarks"]:
            words = entry["name"].split("/")
            if words[0] == "rs_decode_w8" and "lost=4 mixed" in entry["name"]:
                scale = 1.05
                entry["label"] = entry["label"].replace("bmma_w8", "prmt_w8")
            elif words[0] == "rs_create_w8":
                scale = 1.4  # within the range of its 21 times
            elif words[0] == "rs_batch_encode_w8" and words[2] == "4KiBx4096":
                entry.update({"error_occurred": True, "error_message": "FAILED: wrong"})
                for key in list(entry):
                    if key.startswith("time_us"):
                        del entry[key]
                continue
            else:
                continue
            for key in ("time_us_median", "time_us_min", "time_us_max"):
                entry[key] *= scale
        del new["benchmarks"][0]
        done = self.run_tool("compare.py", self.write("a.json", old), self.write("b.json", new))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("slower    -4.8 %  rs_decode_w8/10+4/322122240/lost=4 mixed", done.stdout)
        self.assertIn(", bmma_w8 -> prmt_w8", done.stdout)
        self.assertIn("broken  rs_batch_encode_w8/10+4/4KiBx4096: FAILED: wrong", done.stdout)
        self.assertIn(f"1 slower, 0 faster, {len(old['benchmarks']) - 3} within noise, 1 broken, "
                      "1 only in the old file, 0 only in the new one", done.stdout)


if __name__ == "__main__":
    unittest.main()
