# SPDX-License-Identifier: BSD-3-Clause
"""The tables of Reed-Solomon codes, as Markdown. GB/s are of data: the k data regions, or in an
update the one that changed. A ratio is of two figures of one run."""

import bench_results as results
from report_text import number, rate, shape_text, table

SWEEP = "1MiB"  # the regions of the preset rs-sweep
WIDE = 128  # codes of more regions have a table of their own
LOST = ("data", "parity", "mixed")
# What is asked for, in percent of what the column before says.
DECODE, ONE_LOST, VERIFY, LOCATE, UPDATE = 97, 95, 95, 100, 95
BATCH = {("encode", 4096): 75, ("encode", 16384): 90, ("decode", 4096): 60, ("decode", 16384): 75}
# Microseconds on one core: a code, a decoder.
SETUP = {(10, 4): (1000, 20), (128, 128): (50000, 20000)}


def words_of(row):
    """rs_decode_w8_compile/10+4/16KiBx4096/lost=1 data: what it does, of what, the sizes and how."""
    words = row.name.split("/") + [""]
    return words[0].split("_w")[0].removeprefix("rs_"), words[1], words[2], "/".join(words[3:-1])


class Codes:
    """Rows of codes by what they are, and what stands beside them in the same file."""

    def __init__(self, rows):
        every = [row for last in rows.values() for row in last.earlier + [last]
                 if row.impl == "rs" and row.median]
        self.rows = [row for row in rows.values() if row.impl == "rs" and row.median]
        self.by_file = {(id(row.context), row.name): row for row in every}

    def of(self, what):
        return [row for row in self.rows if words_of(row)[0] == what]

    def beside(self, row, what, detail=""):
        """The row of this operation with the same code, matrices and sizes, of the same file."""
        row_id = row.id.replace(words_of(row)[0], what, 1)
        name = "/".join([row_id, *words_of(row)[1:3]] + ([detail] if detail else []))
        return self.by_file.get((id(row.context), name))

    def large_encode(self, row):
        """Encode of the longest regions by a run-time matrix, of a batch's code and file."""
        same = [other for (file, _), other in self.by_file.items()
                if file == id(row.context) and other.id == f"rs_encode_w{row.w}"
                and other.shape == row.shape]
        return max(same, key=lambda other: other.bytes, default=None)


def matrices(row):
    return "compiled" if row.id.endswith("_compile") else "run time"


def code_text(row):
    return f"w = {row.w} {shape_text(row.shape)}"


def region(row):
    return row.bytes // row.shape[0]


def percent_of(row, other):
    return f"{100 * row.gbps / other.gbps:.1f}" if row and other else "-"


def against(row, other):
    return f"{rate(row.gbps)} ({percent_of(row, other)} %)" if row else "-"


def against_ceiling(row):
    return f"{rate(row.gbps)} ({row.percent:.1f} %)" if row else "-"


def at_least(percent):
    return f"at least {percent} %"


def engine_of(row, other):
    """Named where it is not the one that the line names already."""
    return f" {row.variant}" if row and other and row.variant != other.variant else ""


def decode(codes):
    """All that may be lost is lost."""
    keys = {}  # what a line is about: its rows by what was lost, "" for encode
    for row in codes.of("encode") + codes.of("decode"):
        what, _, size, detail = words_of(row)
        count, _, which = detail.removeprefix("lost=").partition(" ")
        if size == SWEEP or sum(row.shape) > WIDE or (what == "decode" and
                                                      int(count) != row.shape[1]):
            continue
        keys.setdefault((row.w, row.shape, size, matrices(row)), {})[which] = row
    lines = []
    for (w, shape, _, how), mine in keys.items():
        encode = mine.get("")
        line = [f"w = {w} {shape_text(shape)}", how, encode.variant if encode else "-",
                against_ceiling(encode)]
        found = [mine.get(which) for which in LOST]
        for row in found:
            other = codes.beside(row, "encode") if row else None
            line.append(against(row, other) + engine_of(row, other))
        made = max((row.setup_us for row in found if row), default=0)
        lines.append(line + [at_least(DECODE), number(made / 1e3, 2)])
    return "Encode computes m parity regions from k data regions; in parentheses, percent of a " \
        "plain kernel that only XORs k regions into m. Decode rebuilds m lost regions, data, " \
        "parity or some of both, in one pass; in parentheses, percent of encode by the same code. " \
        "Compiled: the library may compile the matrices in, and does where it takes the engine xor. " \
        "Run time: they are arguments.\n\n" + table(
            ["code", "matrices", "engine", "encode GB/s (% of XOR-only)"]
            + [f"decode, {which} lost GB/s (% of encode)" for which in LOST]
            + ["asked of decode", "slowest decoder to make, ms"], lines) if lines else ""


def one_lost(codes):
    lines = [[code_text(row), matrices(row), row.variant, rate(row.gbps),
              number(row.raw["traffic_GBps"], 0), f"{row.percent:.1f}", at_least(ONE_LOST)]
             for row in codes.of("decode")
             if words_of(row)[3].startswith("lost=1 ") and words_of(row)[2] != SWEEP]
    return "One data region of k + m is lost: k regions are read and one is written, and a plain " \
        "kernel that only XORs k regions into one is the ceiling.\n\n" + table(
            ["code", "matrices", "engine", "GB/s of data", "traffic GB/s", "% of XOR-only, k to 1",
             "asked"], lines) if lines else ""


def verify(codes):
    """A line for each verify; a locate without one has a line too."""
    firsts = codes.of("verify") + [row for row in codes.of("locate")
                                   if not codes.beside(row, "verify")]
    lines = []
    for row in firsts:
        is_verify = words_of(row)[0] == "verify"
        locate = codes.beside(row, "locate", "clean") if is_verify else row
        lines.append([code_text(row), matrices(row), row.variant,
                      against_ceiling(row if is_verify else None), at_least(VERIFY),
                      against(locate, row if is_verify else None), at_least(LOCATE)])
    return "Verify asks whether the parity matches the data and writes nothing; in parentheses, " \
        "percent of a plain kernel that reads the same k + m regions. Locate names the corrupt " \
        "symbols; here there are none, and it should cost no more than verify.\n\n" + table(
            ["code", "matrices", "engine", "verify GB/s (% of reading)", "asked",
             "locate GB/s (% of verify)", "asked"], lines) if lines else ""


def update(codes):
    lines = [[code_text(row), matrices(row), rate(row.gbps),
              number(row.raw["traffic_GBps"], 0), f"{row.percent:.1f}", at_least(UPDATE)]
             for row in codes.of("update")]
    return "One data region has changed: its old and its new bytes and m parity regions are read, " \
        "m parity regions are written. A plain kernel of the same 2 + m reads and m writes is the " \
        "ceiling.\n\n" + table(
            ["code", "matrices", "GB/s of the changed region", "traffic GB/s",
             "% of the plain kernel", "asked"], lines) if lines else ""


def batch(codes):
    lines = []
    for row in codes.of("batch_encode") + codes.of("batch_decode"):
        what, _, size, _ = words_of(row)
        what, stripes = what.removeprefix("batch_"), int(size.partition("x")[2] or 1)
        length, large = region(row) // stripes, codes.large_encode(row)
        asked = BATCH.get((what, length)) if (row.w, row.shape) == (8, (10, 4)) else None
        lines.append([f"{what} {code_text(row)}", f"{stripes:,} x {results.size_text(length)}",
                      rate(row.gbps), rate(large.gbps) if large else "-", percent_of(row, large),
                      at_least(asked) if asked else "-", number(row.median, 2),
                      number(row.setup_us / 1e3, 2)])
    return "Many small stripes in one launch, the matrices as arguments. Decode rebuilds m regions " \
        "of every stripe, drawn anew for each. The rate is of the launch alone: making the batch " \
        "(inverting the matrices, uploading the list) is timed apart. Beside it encode of one " \
        "stripe of long regions, by the same code with a run-time matrix.\n\n" + table(
            ["batch", "stripes x region", "GB/s of data", "long regions, encode GB/s",
             "% of long regions", "asked", "us of a launch", "ms to make the batch"],
            lines) if lines else ""


def wide(codes):
    lines = [[code_text(row), row.variant, f"{region(row) / (1 << 20):,.2f}", rate(row.gbps),
              f"{row.percent:.1f}", number(row.median / 1e3, 2), number(row.setup_us / 1e3, 2),
              "it runs"]
             for row in codes.of("encode") if sum(row.shape) > WIDE]
    return "Encode of codes of many regions, the matrix as an argument. Memory is not what binds " \
        "them: each position takes k x m multiplications.\n\n" + table(
            ["code", "engine", "region MiB", "GB/s of data", "% of XOR-only", "ms of a launch",
             "ms to make the code", "asked"], lines) if lines else ""


def at_most(limits, which):
    return f"at most {limits[which]:,} us" if limits else "-"


def setup(codes):
    found = {}
    for which, what in enumerate(("create", "decoder_create")):
        for row in codes.of(what):
            found.setdefault((row.w, row.shape), [None, None])[which] = row
    lines = []
    for (w, shape), both in found.items():
        line = [f"w = {w} {shape_text(shape)}"]
        for which, row in enumerate(both):
            line += [number(row.median, 2), number(row.slowest, 2)] if row else ["-", "-"]
            line.append(at_most(SETUP.get(shape), which))
        lines.append(line)
    return "Microseconds of gfk_rs_create and, with m data regions lost, of gfk_rs_decoder_create " \
        "on one core, with the engine that makes no tables: what is left is the matrix and its " \
        "inversion.\n\n" + table(
            ["code", "code, median us", "slowest us", "asked", "decoder, median us", "slowest us",
             "asked"], lines) if lines else ""


def sweep_rows(rows):
    """What the plot of rs-sweep shows: rows by series, and in each by (k, m)."""
    series = {"encode": {}, "decode": {}}
    for row in rows.values():
        words = row.name.split("/")
        if row.impl == "rs" and row.gbps and words[2] == SWEEP and words_of(row)[0] in series:
            series[words_of(row)[0]][row.shape] = row
        elif words[-1] == "sweep" and row.gbps:
            title = {"isa-l": "ISA-L", "jerasure": "Jerasure"}.get(row.id, row.id)
            threads = f"{row.threads} thread{'s' if row.threads > 1 else ''}"
            series.setdefault(f"{title}, {threads}", {})[row.shape] = row
    return {name: found for name, found in series.items() if found}


def sweep(rows):
    series = sweep_rows(rows)
    ks, ms = (sorted({shape[axis] for found in series.values() for shape in found})
              for axis in (0, 1))
    lines = []
    for m in ms:
        for name, found in series.items():
            mine = [found.get((k, m)) for k in ks]
            if any(mine):
                lines.append([f"m = {m}, {name}"] + [
                    "-" if not row else f"{rate(row.gbps)} ({row.percent:.0f} %)" if row.percent
                    else rate(row.gbps) for row in mine])
    return "GB/s of data with regions of 1 MiB, w = 8; in parentheses, percent of the XOR-only " \
        "kernel of the same regions. Decode rebuilds min(k, m) lost regions, data and parity in " \
        "turn. The GPU takes the matrix as an argument and finds its regions in memory, not in the " \
        "cache; a launch of so few bytes is short, so its start counts. The CPU has its regions in " \
        "its caches, as far as they fit, and decodes at the rate of encode.\n\n" + table(
            ["GB/s of data"] + [f"k = {k}" for k in ks], lines) if lines else ""


def sections(rows):
    codes = Codes(rows)
    return (("Codes: encode and decode", decode(codes)), ("Codes: one lost region", one_lost(codes)),
            ("Codes: verify and locate", verify(codes)), ("Codes: update", update(codes)),
            ("Codes: batches of small stripes", batch(codes)), ("Codes: wide", wide(codes)),
            ("Codes: set-up on one core", setup(codes)), ("Codes: over k and m", sweep(rows)))
