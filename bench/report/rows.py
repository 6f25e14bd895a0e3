# SPDX-License-Identifier: BSD-3-Clause
"""Which rows tables and plots show, where that takes more than a query, and what is compared with what."""

import pandas as pd

from .frame import GIB, METHODS, best
from .text import cells, size, texts

PUBLISHED = 50_000_000  # bytes of the test case of the literature: preset s2
SWEEP = 1 << 20  # the regions of the preset rs-sweep
PLAIN = f"constants == 'rotating' and src_offset + dst_offset == 0 and nominal_bytes != {PUBLISHED}"
AUTO, COMPILED, MULTIPLIES = "AUTO, run-time matrix", "AUTO, compiling allowed", "plain: k x m multiplies"
ENGINES = ["xor", "bmma", "prmt", "perop_split"]
COLUMNS = [COMPILED, "xor", "xor, Cauchy", AUTO, *ENGINES[1:], MULTIPLIES]
LIBRARIES = {"isa-l": "ISA-L", "jerasure": "Jerasure"}


# ---- a constant times a region ---------------------------------------------------------------------
def methods(results):
    """The fastest row of each method and width that is no ablation, by series: CUDA kernels at 1 GiB, also with
    the one constant of a table of gigabytes, references at their largest size, GF-Complete."""
    region = results.rows.query(f"kind == 'region' and not ablation and (giant or {PLAIN})")
    gpu = region.query(f"where == 'gpu' and mode == 'set' and cold and nominal_bytes == {GIB}")
    host = region.query("implementation == 'host' and state == 'measured'").sort_values("region_bytes")
    other = results.rows.query(f"implementation == 'gf-complete' and method in {METHODS} and {PLAIN}")
    most = other.groupby("id").threads.transform("max")
    series = {"naive": gpu.query("implementation == 'naive'"), "optimized": gpu.query("implementation == 'opt'"),
              "GF-Complete": other[other.threads == most], "GF-Complete, 1 thread": other.query("threads == 1"),
              "reference, 1 thread": host.drop_duplicates("id", keep="last")}
    found = pd.concat([rows.assign(series=name, place=place) for place, (name, rows) in
                       enumerate(series.items())], ignore_index=True)
    return best(found, ["w", "method", "series"])


def overview(results):
    found = methods(results)
    on_gpu = found.series.isin(["naive", "optimized"]).any()
    shown = ["naive", "optimized", "GF-Complete"] if on_gpu else ["GF-Complete", "reference, 1 thread"]
    found = found[found.series.isin(shown)]
    return found.assign(place=10 * found.w + (found.place if on_gpu else -found.place))


def limits(results):
    """Rows in which each constant was timed alone, and the others of these kernels."""
    rows = results.rows.query("kind == 'region' and where == 'gpu' and not giant and state == 'measured'")
    keys = ["id", "mode", "nominal_bytes"]
    rows = rows.merge(rows.query("constants == 'each'")[keys]).query("constants != 'rotating'").copy()
    rows["which"] = ["64 random constants" if line.constants == "each" else "all 255" if line.constants == "all"
                     else "all ones" if line.constant == (1 << line.w) - 1 else f"c = {line.constant}"
                     for line in rows.itertuples()]
    of_copy = 100 * rows.traffic_GBps / rows.data_GBps / rows.roofline_GBps
    return rows.assign(**{which: of_copy * rows[f"{which}_constant_GBps"] for which in ("best", "mean", "worst")})


def offsets(results):
    """Also the aligned rows of the same files."""
    rows = results.every.query("kind == 'region' and where == 'gpu' and constants == 'rotating'")
    rows = rows[rows.file.isin(rows.query("src_offset + dst_offset > 0").file)]
    return rows.merge(rows.query("src_offset + dst_offset > 0")[["id", "mode", "nominal_bytes"]].drop_duplicates())


def giants(results):
    rows = results.rows.query("state == 'measured' and (operation == 'gather' or kind == 'region' and giant)")
    return rows.assign(billions=rows.gsymbols_per_s.fillna(rows.ggathers_per_s))


def verdicts(results):
    """The steps of each published claim, each beside the one before."""
    rows, found = results.rows.query("kind == 'region' and state == 'measured'").set_index("row", drop=False), []
    for verdict in results.verdicts:
        steps = rows.loc[[name for name in verdict["steps"] if name in rows.index]]
        before = steps.shift()
        noise = (steps.time_us_min <= before.time_us_max) & (before.time_us_min <= steps.time_us_max)
        found.append(steps.assign(step=100 * (steps.data_GBps / before.data_GBps - 1), noise=noise.map(
            {True: "noise", False: ""}), title=verdict["title"], claim=verdict["claim"]))
    return pd.concat(found) if found else rows.head(0)


# ---- products --------------------------------------------------------------------------------------
def products(results):
    """On the GPU, each beside the whole set of XOR-only kernels."""
    rows = results.rows.query("kind == 'product' and where == 'gpu' and roofline == 'xor_only'")
    rows = rows[(rows.matrix == "random") | (rows.family == "xor")]
    label = rows.way.map({"auto": AUTO, "auto_compile": COMPILED, "plain": MULTIPLIES}).fillna(
        rows.short + rows.matrix.map({"cauchy": ", Cauchy"}).fillna(""))
    return rows.assign(label=label, place=label.map({name: i for i, name in enumerate(COLUMNS)})).sort_values(
        ["w", "k", "m", "region_bytes"], kind="stable")


def long_products(results):
    return products(results).query(f"nominal_bytes >= {GIB}")


def skeleton(results):
    """Methods in one skeleton, with 16, 4 and 1 bytes per thread."""
    rows = long_products(results).query(f"mode == 'set' and way == 'engine' and method in {METHODS}")
    bytes_of = rows.id.str.extract(r"_w\d+_?(\d*)$")[0].map({"": "16", "4": "4", "1": "1"})
    other = (rows.method != "SPLIT").groupby([rows.w, rows.k, rows.m]).transform("any")
    return rows.assign(bytes=bytes_of)[other]  # SPLIT alone is measured at every shape


def sustained(results):
    """Region rows, then products."""
    rows = pd.concat([results.rows.query("kind == 'region' and where == 'gpu' and state == 'measured'"),
                      long_products(results).query("mode == 'set' and matrix == 'random'")])
    return rows[rows.sustained_data_GBps.notna()]


def sustained_best(results):
    """The best region row of each width, and the engines for (10, 4)."""
    rows = sustained(results)
    return pd.concat([best(rows[rows.kind == "region"], ["w"]), rows.query("k == 10 and m == 4")])


def maps(results):
    """By width, mode and which engines: for each k and m the fastest engine, and what AUTO took."""
    rows = results.rows.query("kind == 'product' and few and matrix == 'random' and state == 'measured' and "
                              f"nominal_bytes == {GIB}")
    keys, parts = ["w", "mode", "k", "m"], []
    for which, way, families in (("every engine", "auto_compile", ""), ("without compiling", "auto", "xor")):
        auto = rows[rows.way == way][[*keys, "percent", "engine"]]
        found = best(rows[(rows.way == "engine") & (rows.family != families)], keys)
        found = found.merge(auto, how="left", on=keys, suffixes=("", "_auto"))
        other = found.engine_auto.notna() & (found.engine_auto != found.engine)
        parts.append(found.assign(engines=which, auto=cells(
            found, "AUTO {percent_auto:.0f} {engine_auto}").where(other, "")))
    return pd.concat(parts, ignore_index=True).sort_values(["w", "mode", "engines", "k", "m"])


def libraries(results):
    """AUTO at w = 8 on the GPU, this library's engines on the CPU, and other libraries: the longest data."""
    cpu = results.rows.query("where == 'cpu' and kind in ('product', 'baseline') and "
                             "operation in ('product', 'encode') and not sweep and w == 8")
    cpu = cpu.sort_values("data_bytes", kind="stable").drop_duplicates(["id", "k", "m", "threads"], keep="last")
    cpu = cpu.assign(label=cpu.implementation.map(LIBRARIES).fillna("engine " + cpu.family) + ", " + cpu.on)
    gpu = long_products(results).query("w == 8 and mode == 'set' and matrix == 'random' and way.str.startswith('auto')")
    gpu = gpu.merge(cpu[["k", "m"]].drop_duplicates())
    return pd.concat([gpu, cpu.sort_values(["k", "m", "threads"], ascending=[True, True, False], kind="stable")])


def created(results):
    """What a product's first use costs."""
    rows = results.rows.query("operation in ('specialise', 'cache_hit', 'first_call') and state == 'measured'")
    default = rows.matrix == "cauchy"
    what = rows.operation.map({"specialise": "compiled", "cache_hit": "from the folder",
                               "first_call": "not compiled: create"}).mask(default, "default matrix")
    first = rows.query("operation == 'first_call'")
    return pd.concat([
        rows.assign(what=what, us=rows.setup_us.where(rows.operation == "first_call", rows.time_us_median),
                    built_in=(default & (rows.from_cache > 0)).map({True: "built in", False: ""})),
        first.assign(what="create, run 1 MiB and wait", us=first.time_us_median, built_in="")])


# ---- codes -----------------------------------------------------------------------------------------
def codes(results):
    """All but rs-sweep. ratio: what is asked of a row is a percentage of another row, or of its ceiling."""
    rows = results.rows.query(f"kind == 'rs' and state == 'measured' and (region_bytes != {SWEEP} or stripes > 1)")
    lost = rows.lost.astype(object).mask((rows.lost == rows.m) & (rows.m > 1), "m").where(rows.lost > 0, "")
    names = texts(rows.assign(lost=lost, stripes=rows.stripes.where(rows.stripes > 1)),
                  "{operation}[, {lost} {lost_kind} lost][, {stripes:.0f} stripes of {region} regions]")
    names = names.str.replace("_", " ")
    rows = rows.assign(what=names, wide=rows.k + rows.m > 128, named=rows.engine.where(names == "encode", ""),
                       ratio=rows.percent_of_other.fillna(rows.percent))
    return rows.sort_values(["wide", "stripes", "w", "k", "m", "compile"], kind="stable",
                            ascending=[True, True, True, True, True, False])


def encode_and_decode(results):
    return codes(results).query("not wide and stripes <= 1 and (operation == 'encode' or lost > 1)")


def other_operations(results):
    rows = codes(results).drop(encode_and_decode(results).index)
    return rows.sort_values(["wide", "stripes", "operation"], kind="stable")


def sweep(results):
    gpu = results.rows.query("kind == 'rs' and operation in ('encode', 'decode') and state == 'measured' and "
                             f"region_bytes == {SWEEP} and stripes <= 1")
    cpu = results.rows.query("kind == 'baseline' and sweep and state == 'measured'")
    rows = pd.concat([gpu.assign(series=gpu.operation),
                      cpu.assign(series=cpu.implementation.map(LIBRARIES) + ", " + cpu.on)])
    return rows.sort_values(["m", "k"], kind="stable")


# ---- host memory -----------------------------------------------------------------------------------
def host_rows(results):
    rows = results.rows.query("kind == 'host' and state == 'measured'").reset_index(drop=True)
    call = rows.operation + " " + rows["shape"].mask(rows["shape"] == "", "a region") + ", " + rows["size"]
    return rows.assign(call=call, reached_percent=100 * rows.data_GBps / rows.bound_GBps)


def reached(rows):
    """Percent of what bounds a row. A plain copy is no ceiling but what is to be beaten."""
    beaten = (rows.path == "gpu") & (rows.memory == "pageable")
    multiples = texts(rows.assign(times=rows.reached_percent / 100), "{times:.2f} x")
    return texts(rows, "{reached_percent:.1f} %").mask(beaten, multiples)


def host(results):
    """In the order of measurement of the calls, then of GPUs and paths, pinned memory first. A ratio is of two
    figures of one run; where one of them is not there, there is no ratio."""
    rows = host_rows(results).query("streams == 0")
    keys = ["operation", "k", "m", "nominal_bytes"]
    gpu, cpu = (results.beside(rows, keys + memory, f"kind == 'host' and path == '{path}' and streams == 0 and gpus <= 1")
                for path, memory in (("gpu", ["memory"]), ("cpu", [])))  # the CPU does not ask for pinned memory
    both, auto, several = rows.path == "both", rows.path == "auto", rows.gpus > 1
    bound = rows.bound_GBps.where(~both, gpu.data_GBps + cpu.data_GBps)
    rows = rows.assign(
        bound_GBps=bound, reached_percent=100 * rows.data_GBps / bound,
        bound=rows.bound.where(~both, "GPU and CPU added").where(~auto, "the best path"),
        how=rows.path.str.upper().where(rows.path != "cpu", "CPU, " + rows.on)
        + (" took " + rows.path_taken.str.upper()).where(auto, "")
        + (", " + rows.gpus.astype(str) + " GPUs").where(several, ""),
        of_better=(100 * rows.data_GBps / gpu.data_GBps.combine(cpu.bound_GBps, max)).where(auto & cpu.bound_GBps.notna()),
        of_one=(rows.data_GBps / gpu.data_GBps).where(several))
    rows["reached"] = reached(rows)
    calls = rows.call.map({call: i for i, call in enumerate(dict.fromkeys(rows.call))})
    path = rows.path.map(["gpu", "both", "cpu", "auto"].index) + 10 * rows.gpus
    return rows.assign(order=calls, path_order=path).sort_values(
        ["order", "path_order", "memory"], ascending=[True, True, False], kind="stable")


def streams(results):
    rows = host_rows(results).query("streams > 0").copy()
    rows["reached"] = reached(rows)
    rows["columns"] = rows.streams.astype(str) + " stream" + (rows.streams > 1).map({True: "s", False: ""})
    return rows.sort_values(["k", "m", "memory", "streams"], ascending=[True, True, False, True], kind="stable")


# ---- what a user asks first ------------------------------------------------------------------------
RS = f"w == 8 and kind == 'rs' and state == 'measured' and region_bytes != {SWEEP} and k == 10 and m == 4"
OPERATIONS = {
    "decode (10, 4), 4 lost, data and parity": f"{RS} and operation == 'decode' and lost_kind == 'mixed'",
    "decode (10, 4), 1 lost": f"{RS} and operation == 'decode' and lost == 1",
    "verify (10, 4)": f"{RS} and operation == 'verify'",
    "update (10, 4) by one changed region": f"{RS} and operation == 'update'",
    "encode (10, 4), 4,096 stripes of 4 KiB regions in one launch":
        f"{RS} and operation == 'batch_encode' and region_bytes == 4096"}


def operations(results):
    """Rows by what a user asks for, and by who computes."""
    rows = pd.concat([libraries(results).query("way != 'engine' or where == 'cpu'"), long_products(results).query(
        "w == 8 and mode == 'set' and matrix == 'random' and way.str.startswith('auto')"),
        encode_and_decode(results).query("w == 8 and operation == 'encode'")])
    parts = [rows.query(f"k == {k} and m == {m} and state == 'measured'").assign(what=f"encode ({k}, {m})")
             for k, m in ((4, 2), (10, 4), (30, 3))]
    parts += [results.rows.query(query).assign(what=what) for what, query in OPERATIONS.items()]
    calls = host(results).query("path == 'gpu' and memory == 'pinned' and operation == 'encode' and gpus <= 1 "
                                "and k == 10 and m == 4").sort_values("data_bytes").tail(1)
    parts.append(calls.assign(what="encode (10, 4), " + calls["size"] + " in pinned host memory",
                              percent=calls.reached_percent, data_bytes=0, threads=0))
    found = pd.concat(parts, ignore_index=True).sort_values("threads", ascending=False, kind="stable")
    who = found.implementation.map({"isa-l": "ISA-L", "jerasure": ""}).fillna(found["compile"].map(
        {True: "compiling allowed", False: "run-time matrix"}).mask(
            (found["where"] == "cpu") & (found.kind == "product"), "this library on the CPU"))
    order = {what: i for i, what in enumerate(dict.fromkeys(found.sort_index().what))}
    places = {"compiling allowed": 0, "run-time matrix": 1, "ISA-L": 2}
    found = found.assign(who=who, place=who.map(places).fillna(3), order=found.what.map(order))
    return found[who != ""].sort_values("order", kind="stable")
