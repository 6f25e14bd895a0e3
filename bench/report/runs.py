# SPDX-License-Identifier: BSD-3-Clause
"""The files of a folder results/<gpu>, without pandas: tables of rows (region.csv, product.csv, ...), a line for each
measurement, and runs.json, a line for each run: what gfk_bench says of the machine and of itself. The column `run` of a
table names the run.

A flag is 1 or empty; an absent field is empty. The fields are those of the JSON files, see bench/README.md, without
those that repeat others (LEFT_OUT). A figure of a second run is in the row of the first, with second_ before its
name."""

import csv
import json
import pathlib

RUNS = "runs.json"
LEFT_OUT = ("variants", "note", "spread_percent")
TABLES = {"python": "host", "ranks": "host", "peers": "matmul"}  # others: the first word of the run's name
FIRST = """run row kind operation state where id w k m region_bytes data_bytes time_us_median time_us_min time_us_max
    second_time_us_median data_GBps""".split()  # columns; the others in the order of the alphabet
TWICE = ("time_us_median", "sustained_data_GBps", "data_GB_per_joule")  # figures of a row that a second run adds


def parse(text):
    """The JSON of a run. One that was stopped has no end; its rows up to there are as good as any."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        row_end = "\n    }"
        data = json.loads(text[:text.rindex(row_end) + len(row_end)] + "]}")
        data["context"]["interrupted"] = "the run was stopped before its end"
        return data


def size(count):
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count and count % (1 << shift) == 0 and count >> shift < 10000:
            return f"{int(count) >> shift} {unit}"
    return f"{count / 1e6:,.1f} MB"


def of_package(row):
    """Rows of bench/python.py and bench/ranks.py in the words of gfk_bench."""
    if row["what"] != "ranks":
        region = {"region_bytes": row["region_bytes"]} if "region_bytes" in row else {}
        name = "/".join([row["framework"], row["place"], row["call"], *map(size, region.values())])
        figures = {"time_us_median": row.get("us"), "c_us": row.get("c_us"), "data_GBps": row.get("gb_s"),
                   "c_GBps": row.get("c_gb_s")}
        yield {"row": name, "kind": "python", "operation": row["what"], "where": row["place"].replace("cuda", "gpu"),
               "framework": row["framework"], "call": row["call"], **region,
               **{key: value for key, value in figures.items() if value is not None}}
        return
    name = f"{row['backend']}/{row['ranks']} ranks/m={row['m']}/{size(row['piece'])}"
    shared = {"kind": "ranks", "where": row["store"].replace("cuda", "gpu"), "backend": row["backend"],
              "ranks": row["ranks"], "m": row["m"], "data_bytes": row["bytes"], "piece_bytes": row["piece"]}
    for phase, seconds in row["seconds"].items():
        sent = row["sent"].get(phase)
        yield {"row": f"{name}/{phase}", **shared, "operation": phase, "time_us_median": 1e6 * seconds,
               **({"sent_bytes": sent, "data_GBps": sent / seconds / 1e9} if sent else {}),
               **({"percent_of_other": 100 * row["ratio"]} if phase == "exchange alone" else {}),
               **({f"{key}_bytes": row[key] for key in ("held", "most_held", "buffers")} if phase == "encode" else {})}


def read_json(path):
    """A file of gfk_bench, or one of the Python package, as {"context", "benchmarks"}."""
    data = parse(path.read_text(encoding="utf-8"))
    if "machine" in data:
        machine = data["machine"]
        versions = [f"{what} {number}" for what, number in machine.get("versions", {}).items() if number]
        text = ", ".join(filter(None, [machine.get("gpu"), machine.get("processor"), f"{machine.get('cores')} cores",
                                       *versions]))
        rows = [{"state": "measured", **row} for found in data["rows"] for row in of_package(found)]
        data = {"context": {path.stem: text, "of_package": "1"}, "benchmarks": rows}
    return data


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: value for name, value in row.items() if value != ""} for row in csv.DictReader(file)]


def read_folder(folder):
    """What the runs say of themselves, by name, and the rows of each table, by the name of the file."""
    path = folder / RUNS
    runs = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return runs, {path.name: read_table(path) for path in sorted(folder.glob("*.csv"))}


def written(value):
    return "1" if value is True else "" if value is False else value


def write_table(path, rows):
    names = dict.fromkeys([*FIRST, *sorted({name for row in rows for name in row})])
    names = [name for name in names if any(written(row.get(name, "")) != "" for row in rows)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, names, restval="", extrasaction="ignore", lineterminator="\n")
        out.writeheader()
        out.writerows({name: written(value) for name, value in row.items()} for row in rows)


def write_runs(folder, runs):
    lines = [f"{json.dumps(name)}: {json.dumps(context, ensure_ascii=False)}" for name, context in sorted(runs.items())]
    (folder / RUNS).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def key(row):
    return row["row"], row.get("roofline"), row["where"]


def add(folder, path, second=False):
    """Puts the rows of a JSON file into the table of its run, in place of those of an earlier run of this name; figures
    of a second run into the rows of the first. Says what it did."""
    folder.mkdir(parents=True, exist_ok=True)
    data, name = read_json(path), path.stem
    word = name.split("-")[0]
    table = folder / f"{TABLES.get(word, word)}.csv"
    runs, tables = read_folder(folder)
    rows, fresh = tables.get(table.name, []), data["benchmarks"]
    context = {key: value for key, value in data["context"].items() if value != ""}
    if second:
        first = runs.get(name)
        if first is None or first.get("commit") != context.get("commit"):
            raise SystemExit(f"{path}: {folder} has no first run {name} of this commit")
        again = {key(row): row for row in fresh if row["state"] == "measured"}
        for row in rows:
            other = again.get(key(row)) if row["run"] == name else None
            for figure in (TWICE if "time_us_median" in row else ("data_GBps",)) if other else ():
                if figure in row and figure in other:
                    row[f"second_{figure}"] = other[figure]
        runs[name] = {**first, "second_date_utc": context.get("date_utc", "")}
    else:
        runs[name] = context
        at = next((i for i, row in enumerate(rows) if row["run"] == name), len(rows))
        rows[at:] = [{"run": name, **{field: value for field, value in row.items() if field not in LEFT_OUT}}
                     for row in fresh] + [row for row in rows[at:] if row["run"] != name]
    write_table(table, rows)
    write_runs(folder, runs)
    return f"{name}: {len(fresh)} rows to {table}"
