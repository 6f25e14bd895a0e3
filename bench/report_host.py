# SPDX-License-Identifier: BSD-3-Clause
"""The tables of calls on host memory, as Markdown. GB/s are of data: the inputs. A ratio is of two
figures of one run; where one of them is not there, there is no ratio."""

import re

from report_text import number, rate, shape_text, table

# What is asked for, in percent of what the columns before say.
PINNED = {"encode": 95, "decode": 95, "multiply": 93}
CPU = {"encode": 95, "decode": 95}
AUTO = 95
# And as a multiple of a plain copy, and of one GPU.
PAGEABLE, TWO_GPUS = 3, 1.9

BOUNDS = {("gpu", "pinned"): "transfer only", ("gpu", "pageable"): "plain pageable copy",
          ("cpu", "pageable"): "ISA-L called directly"}
PATHS = {"gpu": "GPU", "both": "BOTH", "cpu": "CPU"}


class Call:
    """host_encode_w8/10+4/8GiB/pinned/gpu/gpus=2: what a row does, of what, from where and how."""

    def __init__(self, row):
        self.row = row
        words = row.name.split("/")
        self.stem = "/".join(words[:3])
        self.what = words[0].removeprefix("host_").split("_w")[0]
        self.size, self.where, self.path = words[2:5]
        more = dict(word.split("=") for word in words[5:])
        self.streams, self.gpus = int(more.get("streams", 0)), int(more.get("gpus", 1))
        self.gbps, self.seconds = row.gbps, row.raw.get("cpu_seconds", 0.0)
        self.bound, self.kernel = (row.raw.get(f"{which}_GBps", 0.0)
                                   for which in ("bound", "kernel"))

    @property
    def data(self):
        """8 GiB; 836.9 MB where it is no round number of units."""
        count, unit = re.fullmatch(r"(\d+)(\D*)", self.size).groups()
        if unit and int(count) < 10000:
            return f"{count} {unit}"
        shift, unit = (1e9, "GB") if self.row.bytes >= 1e9 else (1e6, "MB")
        return f"{self.row.bytes / shift:.1f} {unit}"

    @property
    def text(self):
        code = "a region" if self.what == "multiply" else shape_text(self.row.shape)
        return f"{self.what} {code}, {self.data}"

    @property
    def took(self):
        found = re.search(r"took (\w+)", self.row.note)
        return found[1].upper() if found else "-"


class Calls:
    """Rows of host memory, and what stands beside them in the same file."""

    def __init__(self, rows):
        every = [row for last in rows.values() for row in last.earlier + [last]
                 if row.impl == "pipeline" and row.median]
        self.by_file = {(id(row.context), row.name): Call(row) for row in every}
        found = [Call(row) for row in rows.values() if row.impl == "pipeline" and row.median]
        self.sweep = [call for call in found if call.streams]
        self.several = [call for call in found if call.gpus > 1 and not call.streams]
        self.plain = {(call.stem, call.where, call.path): call for call in found
                      if call.gpus == 1 and not call.streams}

    def stems(self):
        """Each call and size once, in the order of measurement."""
        return list(dict.fromkeys(stem for stem, _, _ in self.plain))

    def get(self, path):
        """Calls of this path on one GPU or none, from pinned memory first."""
        found = [self.plain.get((stem, where, path)) for stem in self.stems()
                 for where in ("pinned", "pageable")]
        return [call for call in found if call]

    def beside(self, call, path):
        """The same call by this path in the same file. The CPU does not ask whether memory is
        pinned: its rows are pageable."""
        where = "pageable" if path == "cpu" else call.where
        return self.by_file.get((id(call.row.context), f"{call.stem}/{where}/{path}"))


def percent(of, what, digits=1):
    return f"{100 * of / what:.{digits}f}" if what else "-"


def times(of, what):
    return f"{of / what:.2f} x" if what else "-"


def at_least(figure, unit="%"):
    return f"at least {figure} {unit}" if figure else "-"


def gbps_of(call):
    return rate(call.gbps) if call else "-"


def bound_and_asked(calls, call):
    """What 100 % is, its GB/s, and what is asked; of BOTH nothing is."""
    if call.path == "both":
        others = [calls.beside(call, path) for path in ("gpu", "cpu")]
        return ("GPU and CPU added", sum(other.gbps for other in others) if all(others) else 0.0,
                "-")
    name = BOUNDS.get((call.path, call.where), "-")
    if call.path == "cpu":
        return name, call.bound, at_least(CPU.get(call.what))
    if call.where == "pageable":
        return name, call.bound, at_least(PAGEABLE, "x")
    return name, call.bound, at_least(PINNED.get(call.what))


def reached(call, bound):
    """A plain copy is no ceiling but what is to be beaten."""
    if is_to_be_beaten(call.row):
        return times(call.gbps, bound)
    return percent(call.gbps, bound) + (" %" if bound else "")


def paths(calls):
    lines = []
    for call in sorted((call for path in PATHS for call in calls.get(path)),
                       key=lambda call: calls.stems().index(call.stem)):
        name, bound, asked = bound_and_asked(calls, call)
        threads = f", {call.row.threads} thread{'s' if call.row.threads > 1 else ''}"
        path = PATHS[call.path] + (threads if call.path == "cpu" else "")
        lines.append([call.text, path, call.where, rate(call.gbps), name, rate(bound),
                      reached(call, bound), asked, number(call.seconds, 2),
                      number(call.row.spread)])
    return "Regions lie in host memory. Transfer only: the same bytes over the bus and back, both " \
        "directions at once, and nothing computed. Plain pageable copy: cudaMemcpy of each " \
        "region, one after the other; what is asked is a multiple of it. ISA-L is called with as " \
        "many threads. Each pass has one of its bound before it. CPU seconds are those of all " \
        "threads in one pass.\n\n" + table(
            ["call", "path", "memory", "GB/s of data", "100 % is", "GB/s of that", "reached",
             "asked", "CPU seconds", "spread %"], lines) if lines else ""


def auto(calls):
    lines = []
    for call in calls.get("auto"):
        gpu, both, cpu = (calls.beside(call, path) for path in ("gpu", "both", "cpu"))
        direct = cpu.bound if cpu else 0.0
        better = max(gpu.gbps, direct) if gpu and direct else 0.0
        lines.append([call.text, call.where, call.took, rate(call.gbps), gbps_of(gpu),
                      rate(direct), percent(call.gbps, better), at_least(AUTO), gbps_of(both),
                      gbps_of(cpu), rate(call.bound), percent(call.gbps, call.bound),
                      number(call.seconds, 2)])
    return "AUTO goes by a calibration made in the same run. It is asked for a share of the better " \
        "of the GPU path and ISA-L called directly on all cores; it is also measured beside the " \
        "best of the three paths, a pass of which precedes each of AUTO's.\n\n" + table(
            ["call", "memory", "took", "AUTO GB/s of data", "GPU", "ISA-L directly",
             "% of the better", "asked", "BOTH", "CPU", "best path, beside it", "% of that",
             "CPU seconds of AUTO"], lines) if lines else ""


def three_rates(calls):
    lines = [[call.text, rate(call.bound), rate(call.kernel), rate(call.gbps),
              percent(call.gbps, min(call.bound, call.kernel))]
             for call in calls.get("gpu") if call.where == "pinned"]
    return "One GPU, pinned memory, GB/s of data. Kernel only: a product of the same shape, in device " \
        "memory. Total: the call; it does both at once and can be no faster than the slower of " \
        "the two.\n\n" + table(
            ["call", "transfer only", "kernel only", "total", "total, % of the slower"],
            lines) if lines else ""


def several(calls):
    lines = []
    for call in calls.several:
        one, asked = calls.beside(call, call.path), "-"
        if call.gpus == 2:
            asked = f"{at_least(TWO_GPUS, 'x')}, or {PINNED[call.what]} % of the bus"
        lines.append([call.text, call.gpus, rate(call.gbps), gbps_of(one),
                      times(call.gbps, one.gbps if one else 0), rate(call.bound),
                      percent(call.gbps, call.bound), asked, number(call.seconds, 2)])
    return "One call on several GPUs, pinned memory, beside one GPU of the same run, and beside " \
        "as many GPUs that only transfer: the bus.\n\n" + table(
            ["call", "GPUs", "GB/s of data", "one GPU", "x one GPU", "transfer only, as many GPUs",
             "% of the bus", "asked", "CPU seconds"], lines) if lines else ""


def sweep_series(calls):
    """What the plot of host-streams shows: calls by streams, for each code and memory."""
    series = {}
    for call in sorted(calls.sweep, key=lambda call: (call.row.shape, call.stem,
                                                      call.where != "pinned", call.streams)):
        series.setdefault((call.stem, call.where), {})[call.streams] = call
    return list(series.values())


def case_text(call):
    return f"{shape_text(call.row.shape)}, {call.data}"


def with_ratio(call):
    return f"{rate(call.gbps)} ({reached(call, call.bound)})"


def sweep(calls):
    series = sweep_series(calls)
    counts = sorted({streams for found in series for streams in found})
    lines = []
    for found in series:
        one = next(iter(found.values()))
        kinds = {"": with_ratio, f", {BOUNDS['gpu', one.where]}": lambda call: rate(call.bound)}
        if one.where == "pinned":
            kinds[", kernel only"] = lambda call: rate(call.kernel)
        kinds[", CPU seconds"] = lambda call: number(call.seconds, 2)
        for kind, text in kinds.items():
            lines.append([f"encode {case_text(one)}, {one.where}{kind}"] + [
                text(found[count]) if count in found else "-" for count in counts])
    return "Encode by one GPU with so many chunks under way at a time. In parentheses percent of " \
        "the transfer only, or multiples of the plain copy, that were measured beside it.\n\n" \
        + table(["GB/s of data"] + [f"{count} stream{'s' if count > 1 else ''}"
                                    for count in counts], lines) if lines else ""


def from_pinned(rows):
    """The encode that stands for the bus where a user looks first, or None."""
    found = [call for call in Calls(rows).get("gpu") if call.where == "pinned"
             and call.what == "encode" and call.row.shape == (10, 4)]
    return max(found, key=lambda call: call.row.bytes, default=None)


def is_to_be_beaten(row):
    """Measured against what is no ceiling: a multiple of it is no wonder."""
    return row.impl == "pipeline" and "/pageable/gpu" in row.name


def sections(rows):
    calls = Calls(rows)
    return (("Host memory: paths", paths(calls)), ("Host memory: AUTO", auto(calls)),
            ("Host memory: transfer only, kernel only, total", three_rates(calls)),
            ("Host memory: several GPUs", several(calls)),
            ("Host memory: streams", sweep(calls)))
