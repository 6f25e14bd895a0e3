# SPDX-License-Identifier: BSD-3-Clause
"""Result files written before each fact had a field of its own: takes the facts from names and labels.
To be removed when every preset in results/ has been measured again."""

import re

SIZES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "": 1}
METHODS = ["SHIFT", "GROUP", "BYTWO_p", "BYTWO_b", "TABLE", "LOG", "SPLIT"]
GIANTS = {"TABLE": 16 << 30, "LOG": 32 << 30}
RENAMED = {"source_GBps": "data_GBps", "call_us": "time_us_median", "bytes": "data_bytes",
           "prepared_call_us": "prepared_us", "threads_used": "threads", "setup": "setup"}
OPERATIONS = {"gather": "gather", "xor_only": "xor_only", "empty_launch": "empty_launch"}


def size_of(word):
    count, unit = re.fullmatch(r"(\d+)(\w*)", word).groups()
    return int(count) * SIZES[unit]


def lift(raw):
    """The fields of one row of an old file."""
    name = re.split(r"/(?:iterations|min_time|real_time|manual_time)\b", raw["name"])[0]
    label, _, note = raw.get("label", "").partition(";note=")
    words = dict(word.split("=", 1) for word in label.split(";") if "=" in word)
    row = {RENAMED.get(key, key): value for key, value in raw.items()}
    row.update((key, words[key]) for key in ("id", "method", "mode", "where", "setup")
               if words.get(key))
    first, *rest = name.split("/")
    impl, method, engine = words.get("impl", ""), words.get("method", ""), words.get("variant", "")
    error = raw.get("error_message", "") if raw.get("error_occurred") else ""
    row.update(row=name, note=note, cold=words.get("cache") == "cold", reason=error,
               ablation="ablation" in words.get("labels", "") and impl != "product",
               giant="giant" in words.get("labels", ""), operation="multiply", implementation=impl,
               state="measured" if not error else "skipped" if error.startswith("skipped") else "failed")
    sizes = [word for word in rest if re.fullmatch(r"\d+([KMG]iB)?", word)]
    if sizes:
        row["nominal_bytes"] = size_of(sizes[0])
    detail = dict(word.split("=") for word in rest if "=" in word and not word.startswith("lost"))
    width = re.search(r"_w(\d+)", first)  # rows without a figure have no counters
    row.setdefault("w", int(width[1]) if width else 0)
    row.setdefault("threads", int(detail.get("threads", 1)))
    if raw.get("k") and raw.get("bytes"):
        row["region_bytes"] = raw["bytes"] / raw["k"]
        row["moved_per_byte"] = raw.get("traffic_GBps", 0) / (raw.get("source_GBps") or 1)
    if first.endswith("host_time"):
        row.update(kind="call", operation="product" if impl == "product" else "multiply")
    elif impl == "ceiling":
        row.update(kind="ceiling", roofline_variant=engine, operation=next(
            (to for old, to in OPERATIONS.items() if first.startswith(old)),
            "copy" if words["mode"] == "set" else "accumulate"))
    elif first in ("specialise", "cache_hit", "first_call"):
        row.update(kind="create", operation=first, engine=rest[0], id=rest[0],
                   matrix="cauchy" if rest[-1] == "cauchy" else "random")
    elif impl == "product":
        way = "auto_compile" if first.endswith("_compile") else first.split("_")[0]
        short = (engine or first).split("_w")[0]
        row.update(kind="product", operation="product", engine=engine or first,
                   family=short.split("_")[0], method={m.lower(): m for m in METHODS}.get(short[6:], ""),
                   compile=way == "auto_compile",
                   way=way if way in ("auto", "auto_compile", "plain") else "engine",
                   matrix="cauchy" if rest[-1] == "cauchy" else "random")
    elif first in ("rs_create", "rs_decoder_create") or "_create_w" in first:
        row.update(kind="create", operation=first.split("_w")[0])
    elif impl == "rs":
        row.update(kind="rs", operation=first[3:].split("_w")[0], engine=engine,
                   compile=first.endswith("_compile"))
        found = re.search(r"lost=(\d+) (\w+)", name)
        if found:
            row.update(lost=int(found[1]), lost_kind=found[2])
        if "x" in rest[1]:
            row["stripes"] = int(rest[1].split("x")[1])
            row["region_bytes"] /= row["stripes"]
    elif impl == "pipeline":
        took = re.search(r"took (\w+)", note)
        row.update(kind="host", operation=first[5:].split("_w")[0], memory=rest[2], path=rest[3],
                   streams=int(detail.get("streams", 0)), gpus=int(detail.get("gpus", 1)),
                   path_taken=took[1].lower() if took else "", bound={
                       ("gpu", "pinned"): "transfer only", ("cpu", "pageable"): "ISA-L called directly",
                       ("gpu", "pageable"): "plain pageable copy"}.get((rest[3], rest[2]), ""))
    elif impl in ("isa-l", "jerasure"):
        row.update(kind="baseline", operation="encode", sweep=rest[-1] == "sweep")
    else:
        row.update(kind="baseline" if impl == "gf-complete" else "region",
                   variant=engine, constants="rotating")
        if "c" in detail:
            row["constants"] = {"each64": "each", "all255": "all"}.get(detail["c"], "fixed")
            row["constant"] = int(detail["c"]) if row["constants"] == "fixed" else 0
        if "at" in detail:
            row["src_offset"], row["dst_offset"] = map(int, detail["at"].split(","))
        if row["giant"]:
            row["table_bytes"] = GIANTS[method]
    if not raw.get("setup_us") or not row.get("setup"):
        row.pop("setup_us", None)
    return row


def lift_file(data):
    """In place: rows, the ceilings they stand beside, and the verdicts."""
    rows = data["benchmarks"] = [lift(raw) for raw in data["benchmarks"]]
    few = {(row["k"], row["m"], row["nominal_bytes"], row["mode"]) for row in rows
           if row["id"] == "xor_only_few"}
    for row in rows:
        if row["kind"] in ("product", "rs"):
            key = row.get("k"), row.get("m"), row.get("nominal_bytes"), row.get("mode")
            row["roofline"] = "xor_only_few" if key in few else "xor_only"
    found = sorted(key for key in data["context"] if key.startswith("verdict_"))
    split = [data["context"].pop(key).split("|") for key in found]
    data["verdicts"] = [{"title": title, "claim": claim, "steps": names.split(",")}
                        for title, claim, names in split]
