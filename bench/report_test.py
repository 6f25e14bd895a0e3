#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests report.py on bench/report/sample.json and on made-up results, and compare.py. Without pandas only
the latter; without matplotlib no plots."""

import importlib.util
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
PANDAS, MATPLOTLIB = (importlib.util.find_spec(name) for name in ("pandas", "matplotlib"))
from report import runs

if PANDAS:
    from report import cards, frame, front, pages, text

SAMPLE = json.loads((HERE / "report/sample.json").read_text(encoding="utf-8"))
ON_CPU = [one for one in SAMPLE["benchmarks"] if one["where"] == "cpu"]
KINDS = "kind operation where implementation way path constants".split()
NOT_SHOWN = {"bmma_w8/4+2/256KiB/set/cold"}  # of the map of short regions, which only AUTO goes by
BOTH = "| encode (10, 4), 8 GiB | BOTH | BOTH | 1 | pinned | 132 | GPU and CPU added | 192 | 68.7 % |"


def row(name, rate=100.0, spread=0.01, **fields):
    """A kernel's row at 1 GiB."""
    us = (1 << 30) / rate / 1e3
    return {"row": name, "kind": "region", "state": "measured",
            "where": "gpu", "id": name.split("/")[0], "w": 8, "method": "SPLIT", "implementation": "opt",
            "mode": "set", "cold": True, "constants": "rotating", "nominal_bytes": 1 << 30, "data_GBps": rate,
            "time_us_median": us, "time_us_min": us * (1 - spread / 2), "time_us_max": us * (1 + spread / 2),
            **fields}


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "gpu"
        self.folder.mkdir()

    def write(self, name, rows, **context):
        path = self.folder / name
        data = {**SAMPLE, "context": {**SAMPLE["context"], **context}, "benchmarks": rows}
        path.write_text(json.dumps(data), encoding="utf-8")
        return path

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, "-B", HERE / arguments[0], *arguments[1:]], check=False,
                              capture_output=True, text=True)


@unittest.skipUnless(PANDAS, "pandas is not installed")
class ReportTest(Case):
    def results(self, *files):
        return frame.Results([self.write(f"{i}.json", rows) for i, rows in enumerate(files)])

    def pages(self, *files):
        return front.pages("Test GPU", self.results(*files), {})

    def page(self, name, results):
        """One page, without the time that the others take."""
        with mock.patch.multiple(front, PAGES={name: front.PAGES[name]}, FRONT=[]):
            return front.pages("Test GPU", results, {})[f"{name}.md"]

    def test_which_measurement_of_a_row_counts(self):
        quiet, later, disturbed, failed = (row("a", 200), row("a", 210), row("a", 150, 0.2),
                                           row("a", 1, state="failed"))
        for expected, *files in ((210, quiet, later), (210, quiet, later, disturbed), (200, disturbed, quiet),
                                 (150, disturbed), (200, quiet, failed)):
            self.assertEqual(list(self.results(*([one] for one in files)).rows.data_GBps), [expected])
        files = self.write("a.json", [quiet]), self.write("b.json", [later], void="too slow")
        self.assertEqual(list(frame.Results(files).rows.data_GBps), [200])

    def test_an_interrupted_run_keeps_its_rows(self):
        rows = [row("a", variants={"b4": 1}), row("b")]
        whole = json.dumps({"context": {}, "benchmarks": rows}, indent=2)  # as gfk_bench does
        for cut in range(whole.index("\n    },") + 6, whole.rindex("\n    }"), 7):
            data = runs.parse(whole[:cut])
            self.assertIn("interrupted", data["context"])
            self.assertEqual([one["row"] for one in data["benchmarks"]], ["a"])

    def test_every_figure_is_on_a_page(self):
        """Whichever rate or time of a row doubles, a table changes; so none is forgotten. Rows that differ in
        numbers only are alike, and one of them stands for all."""
        rows = SAMPLE["benchmarks"]
        results, missing = self.results(rows), []
        tables = [table for _, found in pages.PAGES.values() for table in found] + pages.FRONT
        tables = [(table, table.render(results), set(results.of(table.rows).get("row", []))) for table in tables]
        plain = frame.typed([{**one, "file": "0.json"} for one in rows])
        figures = plain.columns[plain.columns.str.contains(r"_GBps$|_us|_per_s$|^percent|cpu_seconds")]
        kinds = {tuple(one.get(key) for key in KINDS): i for i, one in enumerate(rows)
                 if one["state"] == "measured" and one["row"] not in NOT_SHOWN}
        for i in kinds.values():
            one = rows[i]
            results.choose(plain.assign(**{each: plain[each].where(plain.index != i, 2 * plain[each])
                                           for each in figures}))
            tables.sort(key=lambda table: one["row"] not in table[2])
            if not any(table.render(results) != before for table, before, _ in tables):
                missing.append(one["row"])
        self.assertEqual(missing, [])

    def test_figures(self):
        found = self.pages(SAMPLE["benchmarks"])
        for page, line in (
                ("README", "| TABLE | - | - | - | 1,935 (91 %) | 153, 16 GiB table | n/a |"),
                ("README", "| encode (10, 4) | 2,822 (90 %) | 63 (59 to 81) | 57 (55 to 60) |"),
                ("README", "| encode (10, 4) from pinned host memory, by one GPU | 51.1 (99 %) |"),
                ("README", "| `bmma_w8` | (10, 4) | 2,829 | 2,263 | 78.1 | 699 | 3.51 |"),
                ("methods", "| `split_w16_opt` | 2,111 (98.9 %); 2,095 to 2,117, mean 2,111 |"),
                ("products", "| (10, 4) | 2,822 (89.5 %) bmma_w8 | 2,829 (89.7 %) |"),
                ("README", "| 16 | 20000 x 32768 | 64 KiB | 45.0 | 0.743 | 45.0 | 0.739 |"),
                ("matrices", "| `matmul_w32` | 512 x 512 | 16 KiB | 0.190 | 22.6 | 0.747 |"),
                ("matrices", "| `matmul_w32/wgmma_levels2` | 4096 x 4096 | 16 KiB | 6.030 | 45.6 |"),
                ("matrices", "| `invert_w8` | 1024 | 1.000 | 1.1 | 0.009 |"),
                ("codes", "| w = 8 (10, 4) | 2,840 (90.2 %) bmma_w8 | 2,840 (100.0 %)"),
                ("host-memory", BOTH),
                ("host-memory", "| encode (10, 4), 8 GiB | GPU | GPU | 2 | pinned | 90.7 |"),
                ("record", "`gfk_bench --filter a\\|b`")):
            self.assertIn(line, found[f"{page}.md"])

    def test_a_ratio_is_of_one_run(self):
        calls = [one for one in SAMPLE["benchmarks"] if one["kind"] == "host"]
        faster = [{**one, "data_GBps": 10 * one["data_GBps"], "gpus": one.get("gpus", 1)} for one in calls
                  if one["path"] in ("gpu", "cpu")]
        self.assertIn(BOTH, self.page("host-memory", self.results(calls, faster)))
        both = self.results([one for one in calls if one["path"] == "both"])
        self.assertNotIn("192", self.page("host-memory", both))

    def test_calls_on_host_memory_are_no_matrices(self):
        matrix = next(one for one in SAMPLE["benchmarks"] if one["row"] == "matmul_w16/32768+20000/64KiB/long")
        call = {**matrix, "row": "host_matmul_w16/32768+20000/1GiB", "id": "host_matmul_w16", "kind": "host"}
        found = self.pages([matrix, call])
        self.assertIn("`matmul_w16`", found["matrices.md"])
        for page in ("README.md", "matrices.md"):
            self.assertEqual(found[page].count("20000 x 32768"), 1, page)

    def into(self, name, rows, second=False, **context):
        """As report.py --into does, with a folder of tables."""
        return runs.add(self.folder / "tables", self.write(name, rows, **context), second)

    def of_tables(self):
        return frame.Results(sorted((self.folder / "tables").glob("*.csv")))

    def test_tables_are_the_files(self):
        """The same pages come of JSON files and of the tables that they were put into."""
        rows = SAMPLE["benchmarks"]
        self.into("region.json", rows[::2], date_utc="2")
        self.into("product-map.json", rows[1::2], date_utc="1")
        names = {path.name for path in (self.folder / "tables").iterdir()}
        self.assertEqual(names, {"region.csv", "product.csv", "runs.json"})
        tables, files = self.of_tables(), frame.Results([
            self.write("region", rows[::2], date_utc="2"), self.write("product-map", rows[1::2], date_utc="1")])
        self.maxDiff = None
        for name, (_, found) in pages.PAGES.items():
            for table in found:
                self.assertEqual(table.render(tables), table.render(files), (name, table.heading))

    def test_a_run_replaces_its_rows(self):
        self.into("region.json", [row("a", 100), row("b", 100)])
        self.into("region-small.json", [row("c", 100)])
        self.into("region.json", [row("a", 200, note="x")])
        table = (self.folder / "tables/region.csv").read_text(encoding="utf-8")
        self.assertEqual([line.split(",")[0] for line in table.splitlines()], ["run", "region", "region-small"])
        rows = self.of_tables().rows
        self.assertEqual(dict(zip(rows.row, rows.data_GBps)), {"a": 200, "c": 100})
        self.assertNotIn("note", (self.folder / "tables/region.csv").read_text(encoding="utf-8"))

    def test_rows_of_a_named_kernel(self):
        """They stand for the row without the name only where that was not measured."""
        named = [row("a/engine=clmad", 50), row("b/engine=clmad", 50)]
        self.assertEqual(list(self.results([row("a"), *named]).rows.row), ["a", "b/engine=clmad"])

    def test_a_record_that_was_made_twice(self):
        """By run and row; rows that only one of the runs has do not count."""
        def product(way, engine, rate, **fields):
            name = engine if way == "engine" else f"{way}_w8"
            return row(f"{name}/10+4/1GiB/set/cold", rate, kind="product", way=way, engine=engine, k=10, m=4,
                       family=engine.split("_")[0], matrix="random", roofline="xor_only_few", **fields)
        first = [row("a", 100), row("b", 100, sustained_data_GBps=90), row("gone"), product("engine", "bmma_w8", 96),
                 product("engine", "prmt_w8", 100), product("auto", "bmma_w8", 95)]
        again = [row("a", 101), row("b", 110, sustained_data_GBps=91), row("new"), product("engine", "bmma_w8", 99),
                 product("engine", "prmt_w8", 100), product("auto", "bmma_w8", 95)]
        self.into("product.json", first)
        self.assertNotIn("The record, twice", self.page("record", self.of_tables()))
        with self.assertRaisesRegex(SystemExit, "no first run product of this commit"):
            self.into("product.json", again, True, commit="another")
        with self.assertRaisesRegex(SystemExit, "no first run other"):
            self.into("other.json", again, True)
        self.into("product.json", again, True)
        page = self.page("record", self.of_tables())
        for line in ("The median of all is 1.06 %.", "| product | 6 | 1.06 | 1 |", "Of 1 figures that differ",
                     "| `b` | product | us |",
                     "| first | bursts | 1 | 1 | 96.0 |", "| second | bursts | 1 | 0 | 99.0 |",
                     "| first | `auto_w8/10+4/1GiB/set/cold` | bursts | bmma_w8 | `prmt_w8` | 96.0 |"):
            self.assertIn(line, page)
        self.assertNotIn("| second | `auto", page)
        self.assertEqual(list(self.of_tables().rows.data_GBps), [one["data_GBps"] for one in first])

    def test_figures_that_differ_most(self):
        """Twenty of them, each with a reason."""
        rows = [row(f"{i}/1KiB", 100, where=["cpu", "gpu"][i % 2], region_bytes=1024) for i in range(30)]
        self.into("region.json", rows)
        self.into("region.json", [{**one, "time_us_median": one["time_us_median"] * (1.1 + i / 100)}
                                  for i, one in enumerate(rows)], True)
        page = self.page("record", self.of_tables())
        self.assertIn("Of 30 figures that differ by more than 5 %.", page)
        named = re.findall(r"^\| `(\d+)/1KiB` .* \| (.*) \|$", page, re.M)
        self.assertEqual([int(name) for name, _ in named], list(range(29, 9, -1)))
        self.assertEqual({reason for _, reason in named}, {"it is the time of a launch",
                                                           "cores, caches and memory of a server with other work"})

    def test_figures_of_the_cpu_have_their_span(self):
        for figures, expected in (((61.53, 51.2, 74.9), "62 (51 to 75)"), ((39.51, 39.5, 39.52), "39.5"),
                                  ((146.7, 120.0, 160.0), "150 (120 to 160)"), ((0.0774, 0.04, 0.08), "0.077 (0.040 to 0.080)"),
                                  ((2114.0, 2114.0, 2114.0), "2,114"), ((5.0, float("nan"), float("nan")), "5.00"),
                                  ((float("nan"),) * 3, "")):
            self.assertEqual(text.spanned(*figures), expected)
        one = row("isa-l/10+4/1GiB", 60, 0.1, where="cpu", kind="baseline", operation="encode", implementation="isa-l",
                  k=10, m=4, threads=2)
        self.into("product-cpu.json", [one])
        self.into("product-cpu.json", [{**one, "time_us_median": 2 * one["time_us_median"]}], True)
        self.assertIn("| (10, 4) | 60 (30 to 63) |", self.page("products", self.of_tables()))

    def test_cards_side_by_side(self):
        """Rows that both have, by the same kernel; and the index of what is there."""
        matrix = next(one for one in SAMPLE["benchmarks"] if one["row"].startswith("matmul_w32/512"))
        other = {**matrix, "row": "other", "kernel": "x"}
        for card, rows in (("h1", [matrix, other]), ("h2", [{**matrix, "tmuladds_per_s": 11.0, "percent_of_bound": 50.0},
                                                             {**other, "kernel": "y"}])):
            runs.add(self.folder / card, self.write("matmul.json", rows))
            (self.folder / card / "README.md").write_text(f"# Card {card}\n", encoding="utf-8")
        page = cards.index(self.folder)
        for line in ("- [Card h1](h1/README.md)", "## H1 and H2", "| 22.6 | 0.747 x | 11.0 | 0.500 x |"):
            self.assertIn(line, page)
        self.assertNotIn("`other`", page)

    def test_words_of_the_pages(self):
        for name, page in self.pages(SAMPLE["benchmarks"]).items():
            self.assertNotRegex(page, r"\b(beside|behind|but for|of before)\b", name)

    def test_a_library_that_another_machine_measured(self):
        """Only of matrices; elsewhere the files are of one machine, with or without its GPU."""
        peers = [one for one in SAMPLE["benchmarks"] if one["id"] == "m4rie_w8"]
        here = self.write("here.json", [row("a")])
        for fields, machines, column in (
                ({"cpu": "Other CPU", "preset": "matmul"}, 1, "M4RIE, 1 thread, Other CPU, 16 cores"),
                ({"preset": "matmul"}, 1, "M4RIE, 1 thread |"), ({"cpu": "Other CPU", "preset": "host"}, 2, "")):
            results = frame.Results([here, self.write("peers.json", peers, gpu="", **fields)])
            self.assertIn(column, self.page("matrices", results))
            self.assertEqual(len(results.machines()), machines)

    def test_without_a_gpu(self):
        of_gpu = {key: "" for key in SAMPLE["context"] if re.match("gpu|cuda", key)}
        found = front.pages("A CPU", frame.Results([self.write("cpu.json", ON_CPU, **of_gpu)]), {})
        self.assertIn("| w=8 reference, 1 thread | w=8 GF-Complete |", found["README.md"])
        self.assertIn("n/a", found["README.md"])
        self.assertIn("| encode (10, 4) | 63 (59 to 81) | 57 (55 to 60) |", found["README.md"])
        for name, page in found.items():
            for section in page.split("\n## ")[1:]:
                self.assertRegex(section, r"\n\| |\n- \[", f"{name}: a heading without rows")
                self.assertNotRegex(section, r"\| nan|\bnan\b", name)
            self.assertNotRegex(page, r"\bGPUs?\b|plain copy|\| 0 \|", name)
        self.assertNotRegex(found["record.md"], r"\n\| [a-z0-9 ]+ \| - \|\n")

    def test_markdown(self):
        found = frame.pd.DataFrame({"a|b": ["x|y", "z"], "none": ["-", "-"], "n": [1.5, None]})
        self.assertEqual(text.markdown(found), "| a\\|b | n |\n| --- | ---: |\n| x\\|y | 1.5 |\n| z | - |")
        self.assertEqual(text.markdown(found[["a|b", "none"]]), "")

    def test_templates(self):
        line = {"a": 1234.5, "b": float("nan"), "c": "", "d": "x", "e": 1 << 20}
        for template, expected in (
                ("{a:rate}[ ({b:.1f} %)][ {c}][ {d}]", "1,234 x"), ("{b:rate}", "-"), ("{d} {c}", "-"),
                ("{a:.1f}, {a:+.0f}, {e:size}, {d:upper}", "1,234.5, +1,234, 1 MiB, X")):
            self.assertEqual(text.fill(template, line), expected)

    def test_files_of_the_python_package(self):
        """Their rows are among the others; with a second run of some of them."""
        place = {"framework": "torch", "place": "cuda"}
        rows = [{"what": "overhead", "call": "rs.encode(data)", "us": 4.5, "c_us": 3.25, **place},
                {"what": "rate", "call": "rs.encode", "region_bytes": 1 << 20, "gb_s": 1980.0, "c_gb_s": 2000.0, **place},
                {"what": "ranks", "ranks": 2, "m": 1, "bytes": 10**9, "piece": 1 << 26, "backend": "nccl", "held": 1,
                 "most_held": 2, "buffers": 3, "store": "cuda", "ratio": 0.9,
                 "sent": dict.fromkeys(("all_to_all_single", "exchange alone"), 10**9),
                 "seconds": dict.fromkeys(("all_to_all_single", "exchange alone", "encode"), 0.01)}]
        machine = {"processor": "a CPU", "gpu": "a GPU, driver 1", "cores": 4, "versions": {"torch": "2"}}
        path = self.folder / "python.json"
        path.write_text(json.dumps({"machine": machine, "rows": rows}), encoding="utf-8")
        runs.add(self.folder / "tables", path)
        again = [{**rows[0], "us": 9.0}, {**rows[1], "gb_s": 990.0}]
        path.write_text(json.dumps({"machine": machine, "rows": again}), encoding="utf-8")
        runs.add(self.folder / "tables", path, True)
        self.into("region.json", [row("a")])
        found = front.pages("X", self.of_tables(), {})
        for page, line in (
                ("host-memory", "| rs.encode(data) | torch | GPU | 4.50 | 3.25 | 1.25 |"),
                ("host-memory", "| rs.encode | torch | GPU | 1 MiB | 1,980 | 99.0 % |"),
                ("host-memory", "| nccl, 2 ranks, m = 1, store on GPU, 1,000 MB, 64.00 MiB | 10.0; 100 GB/s | "
                                "10.0; 100 GB/s (90 %) | 10.0 |"),
                ("record", "| python | a GPU, driver 1, a CPU, 4 cores, torch 2 |"),
                ("record", "| `torch/cuda/rs.encode/1 MiB` | python | GB/s | 1,980 | 990 | 100.0 | the time of a CPU"),
                ("record", "| `torch/cuda/rs.encode(data)` | python | us | 4.5 | 9 | 100.0 | the time of a CPU")):
            self.assertIn(line, found[f"{page}.md"])

    def test_other_outputs(self):
        """The fields of all files as CSV, also those that no table shows; the front page's tables."""
        files = self.write("a.json", [row("a,b", shared_bytes=5, variants={"b4": 1})]), self.write("b.json", [row("c")])
        done = self.run_tool("report.py", "--csv", self.folder / "rows.csv", *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = frame.pd.read_csv(self.folder / "rows.csv")
        self.assertEqual((list(found.row), found.shared_bytes[0], "variants" in found), (["a,b", "c"], 5, False))
        done = self.run_tool("report.py", "--tables", *files)
        self.assertIn("| SPLIT |", done.stdout)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"a.json", "b.json", "rows.csv"})

    def test_packages_beside_this_library(self):
        """A package's encode is in the table of CPU libraries, and not this library's figure on the front page."""
        ours = row("host_w8/10+4/1GiB", 3, kind="product", where="cpu", family="host", k=10, m=4, threads=2, method="")
        other = {**ours, "row": "zfec/10+4/10MiB", "kind": "baseline", "operation": "encode", "id": "zfec",
                 "implementation": "zfec", "family": "", "data_GBps": 7.0}
        found = self.pages([other, {**ours, "operation": "product", "implementation": ""}])
        self.assertIn("| (k, m) | zfec, 2 threads | engine host, 2 threads |\n| --- | ---: | ---: |\n| (10, 4) | 7.00 (6.97 to 7.04) | 3.00 (2.99 to 3.02) |", found["products.md"])
        self.assertIn("| encode (10, 4) | 3.00 (2.99 to 3.02) |", found["README.md"])

    def test_command(self):
        readme = self.folder.parent / "TOP.md"
        marks = [f"<!-- {name}:{end} -->" for name in pages.README for end in ("begin", "end")]
        readme.write_text("a\n{}\nold\n{}\nb\n{}\nold\n{}\nc\n".format(*marks), encoding="utf-8")
        self.write("sample.json", SAMPLE["benchmarks"])
        done = self.run_tool("report.py", *([] if MATPLOTLIB else ["--no-plots"]), "--readme", readme,
                             self.folder / "sample.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = readme.read_text(encoding="utf-8")
        self.assertRegex(text, r"(?s)^a\n<!--.*\| SPLIT .*\n<!-- methods:end -->\nc\n$")
        self.assertNotIn("old", text)
        self.assertEqual(front.readme(text, self.results(SAMPLE["benchmarks"])), text)  # over its own output
        found = {path.name: path.read_text(encoding="utf-8") for path in self.folder.glob("*.md")}
        self.assertEqual(set(found), {"README.md", "methods.md", "products.md", "codes.md", "matrices.md", "network-coding.md",
                                      "host-memory.md", "record.md"})
        for page in found.values():
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page):
                self.assertTrue((self.folder / target).exists(), target)
        self.assertEqual(len(list(self.folder.glob("*.svg"))), 4 if MATPLOTLIB else 0)

    @unittest.skipUnless(MATPLOTLIB, "matplotlib is not installed")
    def test_axes_are_labelled(self):
        from report import plots
        for rows, least in ((SAMPLE["benchmarks"], 4), (ON_CPU, 1)):
            results = self.results(rows)
            figures = [found for picture in plots.PICTURES if (found := picture.figure(results))]
            self.assertGreaterEqual(len(figures), least)
            for figure in figures:
                self.assertTrue(figure.get_suptitle())
                for axis in figure.axes:
                    self.assertTrue(axis.get_xlabel() or "GB/s" in axis.get_title(), figure.get_suptitle())
                    bars = len(axis.patches) > 0
                    self.assertFalse(bars and "log" in (axis.get_xscale(), axis.get_yscale()), figure.get_suptitle())


class CompareTest(Case):
    def compare(self, old, new):
        return self.run_tool("compare.py", self.write("old.json", old), self.write("new.json", new))

    def test_what_moved(self):
        old = [row("same"), row("noisy", spread=0.2), row("slow"), row("fast"), row("gone"), row("broken")]
        new = [row("same", 101), row("noisy", 90, 0.2), row("slow", 90, engine="bmma_w8"), row("fast", 120),
               {"row": "broken", "reason": "wrong"}]
        done = self.compare(old, new)
        self.assertEqual(done.returncode, 1, done.stderr)
        for line in (r"slower +-10.0 %  slow: .* -> .*, None -> bmma_w8", r"faster +\+20.0 %  fast",
                     "broken  broken: wrong", "rates, new / old: median 0.955, lowest 0.900",
                     "1 slower, 1 faster, 2 within noise, 1 broken, 1 only in the old file, 0 only"):
            self.assertRegex(done.stdout, line)
        self.assertEqual(self.compare(old, old).returncode, 0)

    def test_what_cannot_be_compared(self):
        self.assertEqual(self.compare([row("a")], [row("b")]).returncode, 2)
        void = self.write("void.json", [row("a")], void="too slow")
        done = self.run_tool("compare.py", void, self.write("new.json", [row("a")]))
        self.assertEqual((done.returncode, "too slow" in done.stderr), (2, True))
        csv = self.folder / "new.csv"
        csv.write_text("row,k,m\na,10,4\n", encoding="utf-8")
        done = self.run_tool("compare.py", csv, self.write("new.json", [row("a")]))
        self.assertEqual((done.returncode, "new.csv is no complete JSON" in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
