# SPDX-License-Identifier: BSD-3-Clause
"""Which rows tables and plots show, where that takes more than a query, and what is compared with what."""

import re

import pandas as pd

from .frame import GIB, METHODS, WIDTHS, best
from .text import cells, texts

SWEEP = 1 << 20  # bytes, the regions of the sweep over k and m
PLAIN = "constants == 'rotating' and src_offset + dst_offset == 0"
WAYS = {"auto": "AUTO", "plain": "plain: k x m multiplies"}
ENGINES = ["clmad", "bmma", "prmt", "perop_split"]
COLUMNS = [WAYS["auto"], *ENGINES, WAYS["plain"]]
LIBRARIES = {"isa-l": "ISA-L", "jerasure": "Jerasure", "gf-complete": "GF-Complete", "m4rie": "M4RIE",
             "galois": "galois", "zfec": "zfec", "pyeclib": "PyECLib"}


# ---- a constant times a region ---------------------------------------------------------------------
def methods(results):
    """The fastest row of each method and width, by series: CUDA kernels at 1 GiB, also
    with the one constant of a table of gigabytes, references at their largest size, GF-Complete."""
    region = results.rows.query(f"kind == 'region' and (giant or {PLAIN})")
    gpu = region.query(f"where == 'gpu' and mode == 'set' and cold and nominal_bytes == {GIB}")
    host = region.query("implementation == 'host' and state == 'measured'").sort_values("region_bytes")
    other = results.rows.query(f"implementation == 'gf-complete' and method in {METHODS} and {PLAIN}")
    series = {"naive": gpu.query("implementation == 'naive'"),
              "optimized": gpu.query("implementation == 'opt'"),
              "reference, 1 thread": host.drop_duplicates("id", keep="last"),
              "GF-Complete": other[other.threads == other.groupby("id").threads.transform("max")],
              "GF-Complete, 1 thread": other.query("threads == 1")}
    found = pd.concat([rows.assign(series=name, place=place) for place, (name, rows) in
                       enumerate(series.items())], ignore_index=True)
    return best(found, ["w", "method", "series"])


def overview(results):
    """Without what only the other table has; references, and the engine of the CPU on all cores, which looks up
    parts of symbols as SPLIT does, stand for a GPU where there is none."""
    found = methods(results)
    hidden = ["reference, 1 thread"]
    if not found.series.isin(["naive", "optimized"]).any():
        own = results.rows.query("kind == 'product' and where == 'cpu' and k == 1 and m == 1 and state == 'measured'")
        found, hidden = pd.concat([found, own.assign(series="this library, all threads", method="SPLIT", place=2.5)]), []
    found["place"] += 10 * found.w
    return found[~found.series.isin(["GF-Complete, 1 thread", *hidden])]


def limits(results):
    """Rows in which each constant was timed alone, and the others of these kernels."""
    rows = results.rows.query("kind == 'region' and where == 'gpu' and not giant and state == 'measured'")
    rows = rows.merge(rows.query("constants == 'each'")[["id", "mode", "nominal_bytes"]])
    rows = rows.query("constants != 'rotating'").copy()
    rows["which"] = rows.constants.map({"each": "64 random constants", "all": "all 255"}).fillna(
        rows.constant.map("c = {}".format).mask(rows.constant == 2 ** rows.w - 1, "all ones"))
    return rows


def offsets(results):
    """Also the aligned rows of the same files."""
    rows = results.every.query("kind == 'region' and where == 'gpu' and constants == 'rotating'")
    moved = rows.query("src_offset + dst_offset > 0")
    return rows.merge(moved[["file", "id", "mode", "nominal_bytes"]].drop_duplicates())


# ---- products --------------------------------------------------------------------------------------
def products(results):
    """On the GPU, each with the whole set of XOR-only kernels as its ceiling."""
    rows = results.rows.query("kind == 'product' and where == 'gpu' and roofline == 'xor_only' and matrix == 'random'")
    label = [WAYS.get(way, short) for way, short in zip(rows.way, rows.short)]
    place = [COLUMNS.index(name) if name in COLUMNS else float("nan") for name in label]
    return rows.assign(label=label, place=place).sort_values(
        ["w", "k", "m", "region_bytes"], kind="stable")


def long_products(results):
    return products(results).query(f"nominal_bytes >= {GIB}")


def sustained(results):
    """Region rows and ceilings, then products."""
    return pd.concat([results.rows.query("kind in ('region', 'ceiling')"), long_products(results).query(
        "mode == 'set'")]).dropna(subset="sustained_data_GBps")


def maps(results):
    """By width and mode: for each k and m the fastest engine, and what AUTO took."""
    rows = results.rows.query("kind == 'product' and few and matrix == 'random' and state == 'measured' and "
                              f"nominal_bytes == {GIB}")
    keys = ["w", "mode", "k", "m"]
    found = best(rows[rows.way == "engine"], keys)
    found = found.merge(rows[rows.way == "auto"][[*keys, "percent", "engine"]], how="left", on=keys, suffixes=("", "_auto"))
    auto = cells(found, "AUTO {percent_auto:.0f} {engine_auto}")
    other = found.engine_auto.notna() & (found.engine_auto != found.engine)
    return found.assign(auto=auto.where(other, "")).sort_values(keys)


def libraries(results):
    """This library's engines on the CPU, and other libraries: the longest data of each."""
    rows = results.rows.query("where == 'cpu' and (kind == 'product' or kind == 'baseline' and "
                              "operation == 'encode') and not sweep")
    rows = rows.sort_values("data_bytes", kind="stable")
    rows = rows.drop_duplicates(["id", "w", "k", "m", "threads"], keep="last")
    label = rows.implementation.map(LIBRARIES).fillna("engine " + rows.family) + ", " + rows.on
    return rows.assign(label=label + (", " + rows.machine.astype(str)).where(rows.machine != "", ""))


# ---- matrices in device memory ---------------------------------------------------------------------
SQUARE = "k == m and region_bytes == 16384"
CALLS = {"matmul": "gfk_matmul", "product": "gfk_product_run, AUTO", "invert": "gfk_matrix_invert"}


def matrices(results):
    """On the GPU, then on CPUs. who: a library, and how much of which machine it had."""
    rows = results.rows.query("kind == 'matrix' or kind == 'baseline' and operation in ('matmul', 'invert')")
    rows = rows.query("state == 'measured'").sort_values(["w", "k", "m", "region_bytes"], kind="stable")
    name = rows.implementation.map(LIBRARIES).fillna(rows.operation.map(CALLS)).astype(str)
    place = (", " + rows.machine.astype(str)).where(rows.machine != "", "")
    on = (", " + rows.on.astype(str)).where(rows["where"] == "cpu", "")  # astype: columns without a value
    return rows.assign(short=name + on, who=name + on + place, square=rows.eval(SQUARE))


def curves(results, operation, figure, plain):
    """Rates or times over n, with those of plain bit-MMAs as a line of its own; the GPU first. short: who,
    without the machine. Without Jerasure, which is as fast as GF-Complete."""
    rows = matrices(results).query("implementation != 'jerasure'").sort_values("where", ascending=False,
                                                                              kind="stable")
    rows = rows[(rows.operation == operation) | (operation == "matmul") & (rows.operation == "product")]
    rows = rows[rows.square] if operation == "matmul" else rows[rows.stripes == 0]
    rows = rows.assign(figure=rows[figure])
    rows.short = rows.short.mask(rows["where"] == "gpu", rows.short + ", GPU")
    gpu = rows[(rows["where"] == "gpu") & (rows.operation == operation)]
    return pd.concat([gpu.assign(short="plain bit-MMAs, w x w a product", figure=plain(gpu)), rows])


# ---- network coding --------------------------------------------------------------------------------
CODERS = {"isa-l": "ISA-L", "gfni": "a loop with GFNI"}
# H. Shojania, B. Li, X. Wang, "Nuclei: GPU-accelerated many-core network coding", INFOCOM 2009.
NUCLEI = [("encode, n = 128, MB/s", "GeForce 8800 GT", 66.9, "rlnc_encode_w8/128+896/16KiB"),
          ("encode, n = 256, MB/s", "GeForce 8800 GT", 33.8, "rlnc_encode_w8/256+1792/16KiB"),
          ("encode, n = 512, MB/s", "GeForce 8800 GT", 16.8, "rlnc_encode_w8/512+3584/16KiB"),
          ("encode by tables, n = 128, MB/s", "GeForce GTX 280", 293, "rlnc_encode_w8/128+896/16KiB"),
          ("encode 7,168 packets of 2,048 bytes, n = 1,024, ms", "GeForce 8800 GT", 1751,
           "rlnc_encode_w8/1024+7168/2KiB"),
          ("decode a generation of 2,048 bytes, n = 1,024, ms", "GeForce 8800 GT", 2175,
           "rlnc_decode_w8/1024+1026/2KiB"),
          ("7,168 coding vectors of 1,024 elements, ms", "GeForce 8800 GT", 1.61, "rlnc_vectors_w8/1024+7168/0")]


def network(results):
    """what: generation and packets; who: a library on the CPU."""
    rows = results.rows.query("kind == 'rlnc' and state == 'measured'")
    what = "w = {w}, n = {k}, packets: {m}[ of {region_bytes:count} bytes][, generations: {stripes:count}]"
    return rows.assign(what=texts(rows, what),
                       who=rows.implementation.map(CODERS).fillna("this library").astype(object))


def single_packets(results):
    """A line for each packet; fastest: who is, on how many threads, by the median."""
    rows = network(results).query("operation == 'packet'")
    who = texts(rows, "{who}, {on}").mask(rows["where"] == "gpu", "GPU")
    rows = rows.assign(place=who, winner=who.mask(rows["where"] == "cpu", texts(rows, "CPU: {who}, {on}")))
    best = rows.sort_values("time_us_median", kind="stable").drop_duplicates("what")
    return rows.merge(best[["what", "winner"]].rename(columns={"winner": "fastest"}), on="what")


def published(results):
    rows = network(results).set_index("row")
    found = []
    for what, hardware, figure, name in NUCLEI:
        if name in rows.index:
            one, is_time = rows.loc[name], what.endswith(" ms")
            here = one.time_us_median / 1e3 if is_time else 1e3 * one.data_GBps
            found.append({"what": what, "hardware": hardware, "figure": float(figure), "here": here,
                          "times": figure / here if is_time else here / figure})
    return pd.DataFrame(found)


# ---- codes -----------------------------------------------------------------------------------------
def codes(results):
    """All but the sweep. ratio: what is asked of a row is a percentage of another row, or of its ceiling."""
    rows = results.rows.query("kind == 'rs' and state == 'measured' and "
                              f"(region_bytes != {SWEEP} or stripes > 1)")
    return rows.assign(ratio=rows.percent_of_other.fillna(rows.percent))


def sweep(results):
    rows = results.rows.query("state == 'measured' and (sweep or kind == 'rs' and stripes <= 1 and "
                              f"operation in ('encode', 'decode') and region_bytes == {SWEEP})")
    series = (rows.implementation.map(LIBRARIES) + ", " + rows.on).fillna(rows.operation)
    return rows.assign(series=series).sort_values(["m", "k"], kind="stable")


# ---- host memory -----------------------------------------------------------------------------------
def calls(results):
    """A ratio is of two figures of one run; where one of them is not there, there is no ratio. A plain copy
    is no ceiling but what is to be beaten."""
    rows = results.rows.query("kind == 'host' and state == 'measured'")
    keys, one = ["operation", "k", "m", "nominal_bytes"], "kind == 'host' and streams == 0 and gpus <= 1"
    gpu = results.beside(rows, [*keys, "memory"], f"{one} and path == 'gpu'")
    cpu = results.beside(rows, keys, f"{one} and path == 'cpu'")  # does not ask whether memory is pinned
    better = gpu.data_GBps.combine(cpu.bound_GBps, max).where(cpu.bound_GBps.notna())
    both, auto = rows.path == "both", rows.path == "auto"
    added = both & rows.bound_GBps.isna()  # results of earlier versions
    bound = rows.bound_GBps.where(~added, gpu.data_GBps + cpu.data_GBps)
    rows = rows.assign(
        call=texts(rows, "{operation}[ {shape}], {size}"), bound_GBps=bound,
        bound=rows.bound.mask(added, "GPU and CPU added").mask(auto, "the best path"),
        ratio=rows.data_GBps / bound, percent=100 * rows.data_GBps / bound,
        of_better=(100 * rows.data_GBps / better).where(auto),
        of_one=(rows.data_GBps / gpu.data_GBps).where(rows.gpus > 1))
    beaten = (rows.path == "gpu") & (rows.memory == "pageable")
    return rows.assign(reached=texts(rows, "{percent:.1f} %").mask(beaten, texts(rows, "{ratio:.2f} x")))


def ranks(results):
    rows = results.rows.query("kind == 'ranks'")
    what = texts(rows, "{backend}, {ranks} ranks, m = {m}, store on {where:upper}")
    return rows.assign(what=what + texts(rows.assign(
        mb=rows.data_bytes / 1e6, mib=rows.piece_bytes / 2**20), ", {mb:.0f} MB, {mib:.2f} MiB"))


# ---- what a user asks first ------------------------------------------------------------------------
ENCODE = "operation in ('product', 'encode')"
CODE = "k == 10 and m == 4 and operation"
DECODE = "decode (10, 4), 4 lost, data and parity"
STRIPES = "encode (10, 4), 4,096 stripes of 4 KiB regions in one launch"
PINNED = "encode (10, 4) from pinned host memory, by one GPU"
OPERATIONS = {
    **{f"encode ({k}, {m})": f"k == {k} and m == {m} and kind != 'host' and {ENCODE}"
       for k, m in ((4, 2), (10, 4), (30, 3))},
    DECODE: f"{CODE} == 'decode' and lost_kind == 'mixed'",
    "decode (10, 4), 1 lost": f"{CODE} == 'decode' and lost == 1", "verify (10, 4)": f"{CODE} == 'verify'",
    "update (10, 4) by one changed region": f"{CODE} == 'update'",
    STRIPES: f"{CODE} == 'batch_encode' and region_bytes == 4096",
    PINNED: f"{CODE} == 'encode' and kind == 'host'"}
ASKED = {  # of the README: its words, its limit, and what the CPU does instead
    "multiply": ("multiply a region by a constant", "a plain copy", "multiply"),
    "encode (10, 4)": ("encode (10, 4): 10 regions of data, 4 of parity", "a plain XOR kernel", "encode (10, 4)"),
    DECODE: ("decode (10, 4), 4 regions lost", "a plain XOR kernel", DECODE),
    STRIPES: ("encode (10, 4) of 4,096 stripes of 4 KiB regions", "a plain XOR kernel", ""),
    PINNED: ("encode (10, 4), data in pinned (page-locked) CPU memory", "the bus", "encode (10, 4)")}
WHO = ["this library on the GPU", "ISA-L", "this library on the CPU"]


def operations(results):
    """Rows by what a user asks for and by who computes; the first of several counts."""
    auto = long_products(results).query("mode == 'set' and taken != ''")
    call = calls(results).query("path == 'gpu' and memory == 'pinned' and gpus <= 1 and streams == 0")
    rows = pd.concat([auto, libraries(results).query("kind == 'product' or implementation == 'isa-l'"), codes(results),
                      call.assign(data_bytes=0, threads=0)])
    rows = rows.query("w == 8 and state == 'measured'").sort_values("threads", ascending=False, kind="stable")
    who = rows["where"].map({"gpu": WHO[0], "cpu": WHO[2]}).mask(rows.implementation == "isa-l", WHO[1])
    rows = rows.assign(who=who, place=who.map(WHO.index))
    return pd.concat([rows.query(query).assign(what=what) for what, query in OPERATIONS.items()])


def places(results):
    """Encode (10, 4) at w = 8 by where the data are and who computes, for the picture of the README: each library on
    as many threads as were measured."""
    rows = operations(results).query("what.str.startswith('encode (10, 4)')")
    gpu = rows[(rows["where"] == "gpu") & (rows.kind != "host")].drop_duplicates("what")
    call = calls(results).query("path == 'gpu' and gpus <= 1 and streams == 0 and operation == 'encode' and k == 10 and "
                                "m == 4").sort_values("memory", ascending=False, kind="stable")
    cpu = libraries(results).query("w == 8 and k == 10 and m == 4")
    own = cpu[cpu.kind == "product"].sort_values("data_GBps", kind="stable").tail(1)
    other = cpu[cpu.kind == "baseline"].sort_values("threads", ascending=False, kind="stable")
    other = other.drop_duplicates("implementation").sort_values("data_GBps", ascending=False)
    near, far = "data in GPU memory", "data in CPU memory"
    found = pd.concat([
        gpu.assign(group=near, label=texts(gpu, "[{stripes:count} stripes of 4 KiB regions]").replace("", "long regions")),
        call.assign(group=far, label=texts(call, "by one GPU, {memory} memory")),
        own.assign(group=far, label=texts(own, "this library, {threads} threads")),
        other.assign(group=far, label=other.implementation.map(LIBRARIES) + ", " + other.on)])
    return found.assign(figure=found.rate) if len(gpu) else found[:0]


def asked(results):
    """Five operations at w = 8: GB/s on the GPU, the percent of a limit, and GB/s of the fastest library on the CPU."""
    one = overview(results).query("w == 8 and method == 'SPLIT' and series != 'naive'")
    decode = calls(results).query("path == 'cpu' and operation == 'decode' and k == 10 and m == 4 and w == 8")
    rows = pd.concat([one.assign(what="multiply"), operations(results), decode.assign(what=DECODE)])
    gpu, cpu = (rows[(rows["where"] == place) & rows.data_GBps.notna()] for place in ("gpu", "cpu"))
    found = gpu.drop_duplicates("what").set_index("what")
    found = found.reindex([what for what in ASKED if what in found.index])
    best = cpu.sort_values("data_GBps").drop_duplicates("what", keep="last").set_index("what").rate
    best = best.reindex([ASKED[what][2] for what in found.index]).fillna("")
    return found.assign(what=[ASKED[what][0] for what in found.index], limit=[ASKED[what][1] for what in found.index],
                        on_cpu=best.to_numpy())


def grid(results):
    """A line for each method, and a column w8, w16, w32 for each width: GB/s of naive and optimized kernels; then what they
    are compared with."""
    rows = overview(results)
    figure = lambda found: texts(found, "{rate}")  # noqa: E731
    cell = rows.assign(text=figure(rows)).pivot_table(
        index="method", columns=["w", "series"], values="text", aggfunc="first")
    if not {"naive", "optimized"} <= set(cell.columns.get_level_values(1)):
        return rows[:0]
    lines = []
    for method in METHODS:
        both = {w: [cell[w, name].get(method, "-") if (w, name) in cell else "-" for name in ("naive", "optimized")]
                for w in WIDTHS}
        giant = {w: " *" if rows[(rows.method == method) & (rows.w == w)].giant.any() else "" for w in WIDTHS}
        lines.append({"method": method, **{f"w{w}": f"{one} / {two}{giant[w]}" for w, (one, two) in both.items()}})
    copy = results.rows.query("id == 'ceiling_copy' and state == 'measured'").head(1)
    other = rows.query("series == 'GF-Complete'")
    best = {w: other[(other.w == w) & other.data_GBps.notna()].sort_values("data_GBps").tail(1) for w in WIDTHS}
    for name, of in (("a plain copy on the GPU", dict.fromkeys(WIDTHS, copy)),
                     (f"GF-Complete's fastest method, {other.threads.max()} threads", best)):
        lines.append({"method": name, **{f"w{w}": ", ".join(figure(found)) for w, found in of.items()}})
    return pd.DataFrame(lines)


def reached(results):
    """What AUTO's products reach of the XOR-only kernel, over k and m."""
    rows = results.rows.query("kind == 'product' and few and matrix == 'random' and state == 'measured' and way == 'auto' and "
                              f"mode == 'set' and w == 8 and nominal_bytes == {GIB} and m in (2, 4, 8, 16)")
    return rows.sort_values(["m", "k"], kind="stable")


# ---- the record ------------------------------------------------------------------------------------
MACHINE = """gpu gpu_compute_capability gpu_driver cuda_of_driver cuda_runtime cuda_compiler compiler
    compiler_flags build_type gpu_clock_max gpu_clock_at_start gpu_memory_clock gpu_temperature_at_start
    gpu_power_at_start gpu_l2_bytes gpu_memory_bytes cpu cpu_cores cpu_threads gf_complete gf_complete_simd
    isa_l isa_l_simd jerasure jerasure_simd m4rie galois zfec pyeclib google_benchmark seed elsewhere python ranks""".split()


def tests(results):
    """What scripts/record.py keeps: a line for each stage of scripts/gpu.sh, and why there was no GPU."""
    path, found = results.folder / "tests.txt", []
    head, *parts = path.read_text(encoding="utf-8").split("\n[") if path.exists() else [""]
    found += [{"stage": "all", "verdict": line} for line in head.splitlines() if "not available" in line]
    for part in parts:
        stage, *lines = part.splitlines()
        values = dict(line.split(": ", 1) for line in lines if ": " in line)
        machine_of = re.findall(r"(\d+) of them|(\d+ cores)", f"{values.get('gpu')} {values.get('cpu')}")
        found.append({"stage": stage.rstrip("]"), **values,
                      "on": ", ".join(f"GPUs: {gpus}" if gpus else cores for gpus, cores in machine_of)})
    return pd.DataFrame(found, columns=["stage", "verdict", "all", "commit", "date", "seconds", "on"])


def doubtful(results):
    """of_map: how many rows of the map only have a ceiling of two kernels."""
    rows = results.rows
    pageable = (rows.memory == "pageable") & (rows.path == "gpu")
    above = rows.above_101_percent & ~pageable
    found = rows[(rows.state != "measured") | rows.slow_clock | above & ~rows.few]
    why = found.slow_clock.map({True: "slow clock", False: "above 101 %"}).where(found.reason == "", found.reason)
    return found.assign(of_map=(above & rows.few).sum(), reason=why)


def machine(results):
    values = {key: sorted({str(context[key]) for context in results.contexts if context.get(key) and
                           ("elsewhere" not in context or key in ("m4rie", "galois", "zfec", "pyeclib", "elsewhere"))})
              for key in MACHINE}
    return pd.DataFrame([{"what": key.replace("_", " "), "value": " / ".join(found)}
                         for key, found in values.items() if found])
