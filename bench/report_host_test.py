# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the tables of calls on host memory, on made-up results; report_test.py runs them."""

import json
import pathlib
import tempfile
import unittest

import bench_results as results
import report_overview
import report_tables as tables
from report_samples import call, host, host_streams, products
from report_text import rate

FIGURES = ("bound_GBps", "kernel_GBps", "cpu_seconds", "source_GBps")


def both():
    data = host()
    data["benchmarks"] += host_streams()["benchmarks"]
    return data


def without(data, *words):
    """The results without the rows whose names have all of these words."""
    data["benchmarks"] = [entry for entry in data["benchmarks"]
                          if not set(words) <= set(entry["name"].split("/"))]
    return data


class HostTest(unittest.TestCase):
    def load(self, *data):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{i}.json" for i, _ in enumerate(data)]
            for path, one in zip(paths, data):
                path.write_text(json.dumps(one), encoding="utf-8")
            return results.load_all([str(path) for path in paths])

    def page(self, *data):
        contexts, rows = self.load(*data)
        return tables.page("Test GPU", contexts, rows, {})

    LINES = (  # GPU, BOTH and CPU beside what bounds them; AUTO; the three rates; GPUs; streams
        "| encode (10, 4), 8 GiB | GPU | pinned | 48.0 | transfer only | 50.0 | 96.0 % "
        "| at least 95 % | 0.50 | 2.0 |",
        "| decode (10, 4), 8 GiB | GPU | pageable | 23.3 | plain pageable copy | 7.27 | 3.20 x "
        "| at least 3 x | 6.20 | 2.0 |",
        "| encode (10, 4), 8 GiB | BOTH | pinned | 51.0 | GPU and CPU added | 81.0 | 63.0 % | - "
        "| 3.60 | 2.0 |",
        "| encode (10, 4), 8 GiB | BOTH | pageable | 29.0 | GPU and CPU added | 57.0 | 50.9 % | - "
        "| 6.30 | 2.0 |",
        "| decode (10, 4), 8 GiB | CPU, 16 threads | pageable | 32.0 | ISA-L called directly "
        "| 33.0 | 97.1 % | at least 95 % | 5.10 | 2.0 |",
        "| multiply a region, 8 GiB | GPU | pinned | 45.1 | transfer only | 47.0 | 96.0 % "
        "| at least 93 % | 2.50 | 2.0 |",
        "| encode (10, 4), 8 GiB | pinned | GPU | 47.0 | 48.0 | 34.0 | 97.9 | at least 95 % | 51.0 "
        "| 33.0 | 51.0 | 92.2 | 0.70 |",
        "| encode (10, 4), 8 GiB | pageable | CPU | 32.0 | 24.0 | 34.0 | 94.1 | at least 95 % "
        "| 29.0 | 33.0 | 33.0 | 97.0 | 4.40 |",
        "| encode (10, 4), 8 GiB | 50.0 | 2,700 | 48.0 | 96.0 |",
        "| encode (10, 4), 8 GiB | 2 | 90.0 | 48.0 | 1.88 x | 96.0 | 93.8 "
        "| at least 1.9 x, or 95 % of the bus | 0.80 |",
        "| GB/s of data | 1 stream | 2 streams | 4 streams | 8 streams | 16 streams |",
        "| encode (4, 2), 1.6 GB, pinned | 28.0 (69.8 %) | 32.0 (79.6 %) | 35.2 (87.1 %) "
        "| 37.3 (91.5 %) | 38.6 (92.8 %) |",
        "| encode (4, 2), 1.6 GB, pinned, transfer only | 40.1 | 40.2 | 40.4 | 40.8 | 41.6 |",
        "| encode (4, 2), 1.6 GB, pinned, kernel only | 2,601 | 2,602 | 2,604 | 2,608 | 2,616 |",
        "| encode (30, 3), 836.9 MB, pageable | 18.2 (2.10 x) | 20.8 (2.40 x) | 22.9 (2.64 x) "
        "| 24.3 (2.80 x) | 25.1 (2.89 x) |",
        "| encode (30, 3), 836.9 MB, pageable, CPU seconds | 2.50 | 1.25 | 0.62 | 0.31 | 0.16 |")

    def test_tables(self):
        page = self.page(both())
        for line in self.LINES:
            self.assertIn(line, page)
        self.assertEqual(page.count("| multiply a region, 8 GiB |"), 5 + 2 + 1 + 1)
        for heading in ("## Products:", "## Codes:", "## Methods", "## Rows without"):
            self.assertNotIn(heading, page)  # three times a plain copy is not doubtful

    def test_a_slow_kernel_is_the_limit(self):
        data = host()
        for entry in data["benchmarks"]:
            if entry["name"].startswith("host_encode_w8/10+4/8GiB/pinned/gpu/iter"):
                entry["kernel_GBps"] = 49.0
        self.assertIn("| encode (10, 4), 8 GiB | 50.0 | 49.0 | 48.0 | 98.0 |", self.page(data))

    def test_every_row_and_figure_is_somewhere(self):
        whole = self.page(both())
        for i, entry in enumerate(both()["benchmarks"]):
            data = both()
            del data["benchmarks"][i]
            self.assertNotEqual(whole, self.page(data), entry["name"])
            for key in FIGURES:
                if key in entry and not (key == "kernel_GBps" and "gpus=2" in entry["name"]):
                    data = both()
                    data["benchmarks"][i][key] *= 1.5
                    self.assertNotEqual(whole, self.page(data), f"{entry['name']} {key}")

    def test_each_row_has_its_own_bound(self):
        """All other rows' bounds are made larger: a row with a bound keeps its figures."""
        for i, entry in enumerate(host()["benchmarks"]):
            if "bound_GBps" not in entry:
                continue
            data = host()
            for j, other in enumerate(data["benchmarks"]):
                if j != i and "bound_GBps" in other:
                    other["bound_GBps"] *= 1.7
            gbps, bound = entry["source_GBps"], entry["bound_GBps"]
            ratio = f"{gbps / bound:.2f} x" if "pageable/gpu" in entry["name"] \
                else f"{100 * gbps / bound:.1f}"
            self.assertIn(f" | {rate(bound)} | {ratio}", self.page(data), entry["name"])

    def test_rows_are_beside_their_own_run_and_size(self):
        """Faster rows of another run, size, number of streams or code are no part of a ratio."""
        data = both()
        stem = "host_encode_w8/10+4"
        data["benchmarks"] += [
            call(f"{stem}/16GiB/pageable/cpu", 900, "cpu", 1, 990),
            call(f"{stem}/16GiB/pinned/gpu", 900, "gpu", 1, 990, 9000),
            call(f"{stem}/8GiB/pinned/gpu/streams=4", 900, "gpu", 1, 990, 9000),
            call("host_encode_w8/4+2/8GiB/pinned/gpu", 900, "gpu", 1, 990, 9000),
            call("host_encode_w8/4+2/8GiB/pageable/cpu", 900, "cpu", 1, 990)]
        before = host()
        for entry in before["benchmarks"]:
            for key in ("source_GBps", "bound_GBps"):
                if key in entry:
                    entry[key] *= 7
        page = self.page(before, data)
        for line in self.LINES:
            if "| 1 stream |" not in line:
                self.assertIn(line, page)
        lone = host()  # a later run of AUTO, BOTH and two GPUs has nothing beside it
        lone["benchmarks"] = [entry for entry in lone["benchmarks"]
                              if any(word in entry["name"] for word in ("auto", "both", "gpus"))]
        after = self.page(host(), lone)
        for line in ("| BOTH | pinned | 51.0 | GPU and CPU added | - | - | - | 3.60 |",
                     "| pinned | GPU | 47.0 | - | - | - | at least 95 % | 51.0 | - | 51.0 | 92.2 |",
                     "| 2 | 90.0 | - | - | 96.0 | 93.8 |"):
            self.assertIn(line, after)

    def test_no_better_of_one(self):
        """Without the GPU's row or ISA-L's rate there is no better of the two."""
        line = "| encode (10, 4), 8 GiB | pinned | GPU | 47.0 | {} | at least 95 % | 51.0 | {} |"
        no_gpu = self.page(without(host(), "pinned", "gpu"))
        self.assertIn(line.format("- | 34.0 | -", "33.0"), no_gpu)
        no_cpu = self.page(without(host(), "cpu"))
        self.assertIn(line.format("48.0 | - | -", "-"), no_cpu)
        no_isal = host()
        for entry in no_isal["benchmarks"]:
            if "/cpu/" in entry["name"]:
                del entry["bound_GBps"]
        page = self.page(no_isal)
        self.assertIn(line.format("48.0 | - | -", "33.0"), page)
        self.assertIn("| 33.0 | ISA-L called directly | - | - | at least 95 % |", page)

    def test_without_a_gpu(self):
        data = host()
        data["benchmarks"] = [entry for entry in data["benchmarks"] if "/cpu/" in entry["name"]]
        page = self.page(data)
        self.assertEqual(page.count("CPU, 16 threads"), 3)
        for heading in ("AUTO", "several", "streams", "transfer only,"):
            self.assertNotIn(f"## Host memory: {heading}", page)
        self.assertNotIn("Products and codes", page)

    def test_four_gpus_and_failures(self):
        data = host()
        stem = "host_encode_w8/10+4/8GiB/pinned/gpu"
        data["benchmarks"].append(call(f"{stem}/gpus=4", 120, "gpu", 2.5, 125, 2700))
        data["benchmarks"].append({"name": f"{stem}/gpus=8/iterations:5/manual_time",
                                   "run_type": "iteration", "label": "id=x;impl=pipeline",
                                   "error_occurred": True, "error_message": "FAILED: lost"})
        page = self.page(data)
        self.assertIn("| encode (10, 4), 8 GiB | 4 | 120 | 48.0 | 2.50 x | 125 | 96.0 | - | 2.50 |",
                      page)
        self.assertIn(f"| `{stem}/gpus=8` | FAILED: lost |", page)

    def test_above_the_bus_is_doubtful(self):
        data = host()
        name = "host_encode_w8/4+2/1GiB/pinned/gpu"
        data["benchmarks"].append(call(name, 55, "gpu", 1, 50, 900))
        self.assertIn(f"| `{name}` | ABOVE 101 % of its ceiling: 110.0 % |", self.page(data))

    def test_overview(self):
        line = "| encode (10, 4) from pinned host memory, over the bus | - | 48.0 (96 %) | - |"
        data = both()
        data["benchmarks"].append(call("host_encode_w8/10+4/64KiB/pinned/gpu", 9, "gpu", 1, 10, 90))
        _, rows = self.load(data)
        self.assertIn(line, report_overview.block(rows))
        self.assertIn("8 GiB, and percent", report_overview.block(rows))
        _, rows = self.load({"context": {}, "benchmarks": products()["benchmarks"]
                             + data["benchmarks"]})
        text = report_overview.block(rows)
        self.assertIn(line, text)
        self.assertIn("GB/s of data, 3 GiB of it", text)
        self.assertIn("| encode (10, 4) | 3,000 (98 %) | 2,500 (81 %) | 90.0 |", text)
        _, rows = self.load(without(host(), "pinned", "gpu"))
        self.assertEqual(report_overview.block(rows), "")
        _, rows = self.load(products())
        self.assertNotIn("bus", report_overview.block(rows))


if __name__ == "__main__":
    unittest.main()
