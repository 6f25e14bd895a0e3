# SPDX-License-Identifier: BSD-3-Clause
"""Made-up results, as gfk_bench writes them, for report_test.py."""

import bench_results as results


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
              "bytes": (3 if "3GiB" in words else 1) * results.GIB, **fields}
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
        for m in (2, 4): # of short regions
            rows.append(product(f"xor_only_few/10+{m}/10MiB/set/cold", 1000, impl="ceiling",
                                bytes=10 << 20))
            rows += [product(f"{engine}_w{w}/10+{m}/10MiB/set/cold", gbps, w, bytes=10 << 20)
                     for engine, gbps in (("xor", 500), ("bmma", 600), ("prmt", 700 - 100 * m))]
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


def code(name, gbps, roof=4300.0, **fields):
    """A row of codes; operation, width, k, m, region, stripes and what is lost are in its name."""
    words = name.split("/")
    what = words[0].split("_w")[0]
    k, m = (int(word) for word in words[1].split("+"))
    size, _, stripes = words[2].partition("x")
    unit = {"KiB": 1 << 10, "MiB": 1 << 20}.get(size[-3:], 1)
    region = int(size.removesuffix("KiB").removesuffix("MiB")) * unit * int(stripes or 1)
    lost = int(words[3].split("=")[1].split()[0]) if words[3:] and "lost=" in words[3] else 0
    reads, writes, data = {"rs_verify": (k + m, 0, k), "rs_locate": (k + m, 0, k),
                           "rs_update": (2 + m, m, 1)}.get(what, (k, lost or m, k))
    moved = (reads + writes) / data
    w = float(words[0].split("_w")[1].split("_")[0])
    fields = {"id": words[0], "impl": "rs", "w": w, "k": float(k), "m": float(m),
              "bytes": region * data, "mode": "xor" if what == "rs_update" else "set",
              "variant": "xor_w8" if "compile" in words[0] else "bmma_w8", "setup": "create",
              "setup_us": 50.0, "roofline_GBps": roof, "traffic_GBps": gbps * moved,
              "percent_of_roofline": 100 * gbps * moved / roof,
              "above_101_percent": float(gbps * moved > 1.01 * roof), **fields}
    return row(name, gbps, **fields)


def code_setup(name, us):
    """What making a code or a decoder takes: a row without bytes."""
    k, m = name.split("/")[1].split("+")
    made = row(name, 1, impl="rs", where="cpu", cache="hot", suffix="/iterations:21/manual_time",
               w=float(name.split("_w")[1].split("/")[0]), k=float(k), m=float(m), bytes=0,
               source_GBps=0.0, traffic_GBps=0.0, time_us_median=us, time_us_min=us * 0.9,
               time_us_max=us * 1.5)
    del made["roofline_GBps"], made["percent_of_roofline"]
    return made


def codes():
    """Results of the preset rs, at (10, 4) and one wide code."""
    rows = []
    for how, gbps in (("_compile", 3000.0), ("", 2800.0)):
        size = "10+4/322122240"
        rows += [code(f"rs_encode_w8{how}/{size}", gbps),
                 code(f"rs_decode_w8{how}/{size}/lost=4 data", gbps * 1.01, setup_us=46000.0),
                 code(f"rs_decode_w8{how}/{size}/lost=4 parity", gbps),
                 code(f"rs_decode_w8{how}/{size}/lost=4 mixed", gbps * 0.96),
                 code(f"rs_decode_w8{how}/{size}/lost=1 data", 3800.0),
                 code(f"rs_verify_w8{how}/{size}", gbps * 0.95, roof=4700.0),
                 code(f"rs_locate_w8{how}/{size}/clean", gbps * 0.93, roof=4700.0),
                 code(f"rs_update_w8{how}/{size}", 400.0, roof=4200.0)]
    rows += [code("rs_update_w16/10+2/322122240", 730.0, roof=4200.0),
             code("rs_batch_encode_w8/10+4/16KiBx4096", 2450.0, variant="batch", setup_us=900.0),
             code("rs_batch_encode_w8/10+4/4KiBx4096", 2100.0, variant="batch", setup_us=820.0),
             code("rs_batch_decode_w8/10+4/16KiBx4096", 2520.0, variant="batch", setup_us=2700.0),
             code("rs_encode_w8/223+32/14106KiB", 1250.0),
             code_setup("rs_create_w8/10+4", 5.5), code_setup("rs_decoder_create_w8/10+4", 1.5),
             code_setup("rs_create_w32/128+128", 700.0)]
    return {"context": {"gpu": "Test GPU", "commit": "abc"}, "benchmarks": rows}


def sweep(ks=(2, 4, 8, 16, 32, 64), ms=(2, 3, 4, 6, 8, 12, 16)):
    """Results of the preset rs-sweep."""
    rows = []
    for m in ms:
        for k in ks:
            shape = {"k": float(k), "m": float(m), "bytes": k << 20}
            rows += [code(f"rs_encode_w8/{k}+{m}/1MiB", 100.0 * k / (1 + m / 8)),
                     code(f"rs_decode_w8/{k}+{m}/1MiB/lost={min(k, m)} mixed", 90.0 * k / (1 + m / 8))]
            for name, threads, gbps in (("isa-l", 16, 200 / m), ("jerasure", 1, 6 / m)):
                rows.append(row(f"{name}/{k}+{m}/{k}MiB/set/hot/threads={threads}/sweep", gbps,
                                impl=name, where="cpu", cache="hot", threads_used=float(threads),
                                roofline_GBps=0.0, percent_of_roofline=0.0, **shape))
    return {"context": {"gpu": "Test GPU", "commit": "abc"}, "benchmarks": rows}


def call(name, gbps, took, cpu_s, bound=0.0, kernel=0.0, best=0.0, **fields):
    """A row of calls on host memory; what, k, m, bytes of data, memory and path are in its name.
    AUTO has no ceiling, but the best of the other paths to equal."""
    words = name.split("/")
    k, m = (int(word) for word in words[1].split("+"))
    count = int("".join(filter(str.isdigit, words[2])))
    data = count << {"GiB": 30, "KiB": 10}.get(words[2][-3:], 0)
    moved = (k + m) / k
    against = {("gpu", "pinned"): "transfer only", ("gpu", "pageable"): "a plain pageable copy",
               ("cpu", "pageable"): "ISA-L called directly"}.get(
                   (words[4], words[3]), "the best of the other paths")
    share = 100 * gbps / (bound or best) if bound or best else 0.0
    note = f"CPU {cpu_s:.2f} s; took {took}"
    if best:
        fields = {"bound_GBps": best, **fields}
    if bound:
        fields = {"bound_GBps": bound, "roofline_GBps": bound * moved,
                  "percent_of_roofline": share, "above_101_percent": float(share > 101), **fields}
    if share:
        note += f"; {share:.1f} % of {against}"
    if kernel:
        fields["kernel_GBps"] = kernel
        note += f"; transfer only {bound:.1f}, kernel only {kernel:.1f}"
    made = row(name, gbps, suffix="/iterations:5/manual_time", impl="pipeline", constants="",
               where="cpu" if words[4] == "cpu" else "gpu", w=8.0, k=float(k), m=float(m),
               bytes=data // k // 512 * 512 * k, threads_used=16.0, traffic_GBps=gbps * moved,
               cpu_seconds=cpu_s, percent_of_bound=share, note=note, **fields)
    if not bound:
        del made["roofline_GBps"], made["percent_of_roofline"]
    return made


def host():
    """Results of the preset host, on two GPUs. No two figures are the same."""
    rows = []
    for n, what in enumerate(("encode_w8/10+4", "decode_w8/10+4", "multiply_w8/1+1")):
        stem, less = f"host_{what}/8GiB", 1 - 0.03 * n
        rows += [call(f"{stem}/pageable/cpu", 33 * less, "cpu", 4.1 + n, 34 * less),
                 call(f"{stem}/pageable/gpu", 24 * less, "gpu", 5.2 + n, 7.5 * less),
                 call(f"{stem}/pageable/both", 29 * less, "both", 6.3 + n),
                 call(f"{stem}/pageable/auto", 32 * less, "cpu", 4.4 + n, best=33 * less),
                 call(f"{stem}/pinned/gpu", 48 * less, "gpu", 0.5 + n, 50 * less, 2700 * less),
                 call(f"{stem}/pinned/both", 51 * less, "both", 3.6 + n),
                 call(f"{stem}/pinned/auto", 47 * less, "gpu", 0.7 + n, best=51 * less),
                 call(f"{stem}/pinned/gpu/gpus=2", 90 * less, "gpu", 0.8 + n, 96 * less,
                      2710 * less)]
    return {"context": {"gpu": "Test GPU", "commit": "abc"}, "benchmarks": rows}


def host_streams():
    """Results of the preset host-streams."""
    rows = []
    for code, size, most in (("4+2", "1562500KiB", 40.0), ("30+3", "836900000", 52.0)):
        for streams in (1, 2, 4, 8, 16):
            total = most * (1 - 0.6 / (streams + 1))
            rows += [call(f"host_encode_w8/{code}/{size}/pageable/gpu/streams={streams}",
                          total / 2, "gpu", 2.5 / streams, most / 6),
                     call(f"host_encode_w8/{code}/{size}/pinned/gpu/streams={streams}", total,
                          "gpu", 0.4 / streams, most + streams / 10, 2600.0 + streams)]
    return {"context": {"gpu": "Test GPU", "commit": "abc"}, "benchmarks": rows}
