# SPDX-License-Identifier: BSD-3-Clause
"""The pages of papers/: what five papers claim, what a run gave, and the verdict, which is computed.

papers/NAME/claims.toml has the claims of a paper; papers/CLAIMS.md describes its fields. Rows are queries
of a result file's fields, figures and rules are expressions over these rows."""

import contextlib
import dataclasses
import json
import math
import os
import pathlib
import re
import string
import sys
import tomllib

import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from report.frame import select, typed  # noqa: E402
from report.runs import parse  # noqa: E402
from report.text import markdown, rate, size, texts  # noqa: E402

SOURCE = ROOT / "papers"
NAMES = "gpu-rscode", "gf-gpu", "opencl", "gibraltar", "nuclei"
FEW = 5  # cases that a cell has room for
TIE = 0.05  # a gain of less, either way, is none
MEMORY_SPEED = 95  # percent of a roofline of memory, from which on memory bounds a row
WORDS = "reproduced", "reversed", "no longer matters", "works", "not run here"
FOLDERS_OF_TESTS = "tests/", "python/tests/", "examples/CMakeLists.txt"  # whose examples are tests
SENTENCES = re.compile(r"(?<=\.)\s+")
EXPRESSION = re.compile(r"\{([^{}]+?)(?::([-+,.%\w]*))?\}")


def read(name):
    """The claims of a paper, or the contradictions."""
    path = SOURCE / name / "claims.toml" if name in NAMES else SOURCE / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


class NotRun(Exception):
    """Why a figure cannot be formed from this run."""


class NotCounted(NotRun):
    """There is no count of the kernel's instructions."""


class Run:
    """The measured rows of the papers' files, and the SASS counts beside them."""

    def __init__(self, paths):
        self.paths = [pathlib.Path(path) for path in paths]
        files = [parse(path.read_text(encoding="utf-8")) for path in self.paths]
        self.contexts = [data["context"] for data in files]
        raw = pd.DataFrame([{**row, "file": path.name} for path, data in zip(self.paths, files)
                            for row in data["benchmarks"]])
        known = typed(raw)
        self.rows = known.join(raw[[name for name in raw if name not in known]]).assign(on=known["threads"].map(
            "{} threads".format).mask(known["threads"] == 1, "1 thread").mask(known["where"] == "gpu", "GPU"))
        self.found = {}  # by query
        sass = self.paths[0].parent / "sass.csv"
        self.sass = pd.read_csv(sass, index_col=["kernel", "opcode"])["count"] if sass.exists() else None

    def fact(self, name):
        return " / ".join(dict.fromkeys(str(each[name]) for each in self.contexts if each.get(name)))

    def find(self, query):
        """The measured rows; NotRun where there are none."""
        try:
            found = select(self.rows, query)
        except pd.errors.UndefinedVariableError:  # a field that no row has
            found = self.rows[:0]
        measured = found[found.state == "measured"].drop_duplicates(["row", "file"], keep="last")
        reasons = [reason for reason in found.reason.unique() if reason]
        no_gpu = "" if self.fact("gpu") or "where == 'cpu'" in query else "no GPU"
        return NotRun(", ".join(reasons) or no_gpu or "this run does not have the rows") if measured.empty else measured

    def measured(self, query):
        if query not in self.found:
            self.found[query] = self.find(query)
        if isinstance(self.found[query], NotRun):
            raise self.found[query]
        return self.found[query]


# ---- what an expression may use ------------------------------------------------------------------------
def best(rows, field="data_GBps"):
    """The greatest value of a field, of times the least."""
    return rows[field].min() if "_us" in field else rows[field].max()


def most(rows, field):
    """The row with the greatest value of a field."""
    return rows.loc[rows[field].idxmax()]


def gains(after, before, *keys, field="data_GBps"):
    """For each combination of the keys that both have: the field's best value after / before."""
    after, before = (rows.groupby(list(keys))[field].agg("min" if "_us" in field else "max")
                     for rows in (after, before))
    found = (after / before).dropna()
    if found.empty:
        raise NotRun("this run does not have both rows")
    return found


def crossover(after, before, key="nominal_bytes"):
    """The least key from which on `after` is faster; infinite if there is none."""
    both = after.merge(before, on=key, suffixes=("", "_before")).sort_values(key, ascending=False)
    faster = (both.data_GBps > both.data_GBps_before).cummin()
    return both[key][faster].min() if faster.any() else math.inf


FUNCTIONS = {each.__name__: each for each in (best, most, gains, crossover, size, rate, min, max, len, abs, round)}
FUNCTIONS["inf"] = math.inf


class Names(dict):
    """What an expression may use; rows are looked up when the expression comes to them."""

    def __init__(self, figures):
        super().__init__({**FUNCTIONS, **figures.values, "sass": figures.count, "per_clock": figures.per_clock,
                          "has": figures.has})
        self.figures = figures

    def __missing__(self, name):
        if name not in self.figures.rows:
            raise KeyError(name)
        return self.figures.measured(name)


@dataclasses.dataclass
class Figures:
    """Values by name, for the expressions of one claim or contradiction."""
    run: Run
    rows: dict  # names and queries
    values: dict = dataclasses.field(default_factory=dict)
    needed: str = ""  # expressions whose rows the file should have before all others
    file: str = None  # that all rows come from

    def choose_file(self):
        """A ratio is of one run. Of several files that have the rows the longest counts."""
        words = set(re.findall(r"[a-z_]\w*", self.needed))
        has = {}
        for name, query in self.rows.items():
            with contextlib.suppress(NotRun):
                for file in set(self.run.measured(query).file):
                    has.setdefault(file, set()).add(name)
        lengths = list(self.run.rows.file)
        return max(has, key=lambda file: (len(has[file] & words), len(has[file]), lengths.count(file)), default="")

    def measured(self, name):
        rows = self.run.measured(self.rows[name])
        if self.file is None:
            self.file = self.choose_file()
        rows = rows[rows.file == self.file]
        if rows.empty:
            raise NotRun("no run has all its rows")
        return rows

    def value(self, expression):
        return eval(expression, {"__builtins__": {}}, Names(self))  # of this project's own files

    def has(self, name):
        """Does the run have these rows?"""
        try:
            return not self.measured(name).empty
        except NotRun:
            return False

    def per_clock(self, gbps):
        """10^9 per second of the whole GPU as a number per clock of one multiprocessor."""
        gpu = next(each for path, each in zip(self.run.paths, self.run.contexts) if self.file in (None, path.name))
        return gbps * 1e3 / float(gpu["gpu_multiprocessors"]) / float(gpu["gpu_clock_max"].split()[0])

    def count(self, function, opcode="instructions"):
        """Instructions of the first kernel whose name fits, from sass.csv."""
        if self.run.sass is None:
            raise NotCounted("the instructions were not counted")
        for name in self.run.sass.index.levels[0]:
            if re.search(function, name):
                return self.run.sass.get((name, opcode), 0)
        raise NotCounted(f"sass.csv has no kernel like {function}")

    def chosen(self, template):
        """A template, or the first of a list of {if, text} whose condition holds."""
        if isinstance(template, list):
            template = next((each["text"] for each in template if self.value(each.get("if", "1"))), "")
        return template

    def text(self, template):
        """A template with its figures."""
        template = " ".join(template.split())
        return EXPRESSION.sub(lambda match: written(self.value(match[1]), match[2]), template)

    def sentences(self, template):
        """A text without the sentences that need counts where there are none."""
        found = []
        for sentence in SENTENCES.split(self.chosen(template)):
            with contextlib.suppress(NotCounted):
                found.append(self.text(sentence))
        return " ".join(found)

    def table(self):
        """All rows that were measured."""
        frames = []
        for name in self.rows:
            try:
                frames.append(self.measured(name))
            except NotRun:
                pass
        return pd.concat(frames) if frames else pd.DataFrame()


def written(value, form):
    if form:
        return format(value, form if "," in form else form.replace(".", ",."))
    return value if isinstance(value, str) else rate(value)


# ---- claims --------------------------------------------------------------------------------------------
@dataclasses.dataclass
class Outcome:
    label: str
    paper: str = ""
    here: str = ""
    ratio: str = ""
    verdict: str = ""
    why: str = ""
    ours: float = None
    rows: pd.DataFrame = None
    rule: str = ""
    file: str = ""  # that the rows come from, if there are several
    carry_free: str = ""


def substituted(value, case):
    if isinstance(value, str):
        return string.Template(value).safe_substitute(case)
    if isinstance(value, dict):
        return {key: substituted(each, case) for key, each in value.items()}
    return [substituted(each, case) for each in value] if isinstance(value, list) else value


def cases(claim, define):
    """The claim once for each of its cases. Fields of the case and of `define` stand for $names."""
    for case in claim.get("case", [{}]):
        case = substituted(case, define)
        yield substituted({**{key: value for key, value in claim.items() if key != "case"}, **case},
                          {**define, **case})


EFFECTS = {"faster": 2, "same": 1, "slower": 0.5}


def has_rule(claim):
    return "reproduced" in claim or "reversed" in claim


def otherwise(claim):
    """The verdict where no rule of the claim holds."""
    return WORDS[2] if "reversed" in claim else WORDS[1]


def judge(claim, figures):
    """A word of WORDS. Without rules of its own a claim is a gain, of which the direction counts."""
    ours, paper = figures.values["ours"], EFFECTS.get(claim.get("effect"), figures.values.get("paper"))
    for word in WORDS[:2]:
        if word in claim:
            if figures.value(claim[word]):
                return word
    if has_rule(claim):
        return otherwise(claim)
    direction = lambda gain: 0 if abs(gain - 1) <= TIE else math.copysign(1, gain - 1)  # noqa: E731
    if direction(ours) == direction(paper):
        return WORDS[0]
    return WORDS[2] if direction(ours) == 0 else WORDS[1]


def named_test(test):
    """"FILE: NAME", which must be there: the named test is what shows that the feature works."""
    file, name = test.split(": ")
    if not file.startswith(FOLDERS_OF_TESTS):
        raise SystemExit(f"papers: {file} is no file of tests")
    text = (ROOT / file).read_text(encoding="utf-8")
    if not all(part in text for part in name.split(".")):
        raise SystemExit(f"papers: {file} has no test {name}")
    return f"[`{name}`]({{root}}/{file})"


def rule(claim):
    """What makes the verdict, in words, where it is more than a gain of 5 %."""
    rules = [f"{word} if `{' '.join(claim[word].split())}`" for word in WORDS[:2] if word in claim]
    return ", ".join([*rules, f"otherwise {otherwise(claim)}"]) if rules else ""


def figure_of_rule(claim):
    """The template of the claim's figures, with `ours` in bold if a rule is about it."""
    rules = " ".join(claim.get(word, "") for word in WORDS[:2])
    return re.sub(r"\{[^{}]*\bours\b[^{}]*\}", r"**\g<0>**", claim["here"]) if "ours" in rules else claim["here"]


def carry_free(claim, run, queries):
    """What the carry-less multiply-add, with run-time constants and without tables, makes of a claim."""
    if "carry_free" not in claim:
        return "-"
    try:
        percent = best(run.measured(queries[claim["carry_free"]]), "percent_of_roofline")
    except NotRun:
        return "not measured in this run"
    verdict = "no longer matters" if percent >= MEMORY_SPEED else "still matters"
    return f"{verdict}: {percent:.0f} % of memory speed"


def outcome(claim, run, queries=None):
    unit = claim.get("unit", "x")
    shown = lambda value: f"{rate(value)} {unit}"  # noqa: E731
    paper = claim.get("theirs") or (shown(claim["paper"]) if "paper" in claim else claim.get("effect", "-"))
    found = Outcome(claim.get("label", ""), paper, rule=rule(claim),
                    carry_free=carry_free(claim, run, substituted(queries or {}, claim)))
    needed = " ".join(claim.get(field, "") for field in ("ours", "here", *WORDS[:2]))
    figures = Figures(run, claim.get("rows", {}), {"paper": claim["paper"]} if "paper" in claim else {}, needed)
    is_judged = "ours" in claim and ("paper" in claim or "effect" in claim or has_rule(claim))
    try:
        if "not_run" in claim:
            raise NotRun(claim["not_run"])
        if "test" in claim:
            found.verdict = "" if is_judged else "works"
            found.here = ", ".join(map(named_test, [claim["test"]] if isinstance(
                claim["test"], str) else claim["test"]))
        if "ours" in claim:
            ours = found.ours = figures.values["ours"] = figures.value(claim["ours"])
            here = figures.text(figure_of_rule(claim)) if "here" in claim else shown(ours)
            found.here = f"{here}; {found.here}" if found.here else here
            if "paper" in claim:
                found.ratio = f"{ours / claim['paper']:,.2f}"
            found.verdict = judge(claim, figures) if is_judged else WORDS[3]
    except NotRun as reason:
        found.why = f"Its figure was not run here: {reason}." if found.verdict else f"Not run here: {reason}."
        found.verdict = found.verdict or WORDS[-1]
    with contextlib.suppress(NotRun):  # a counter that is missing leaves the verdict
        found.why = found.why or figures.sentences(claim.get("why", ""))
    found.rows = figures.table()
    found.file = f"`{figures.file}`" if figures.file and len(run.paths) > 1 else ""
    return found


def summary(outcomes):
    """"reproduced", or which cases are what: "reproduced (w = 32), reversed (w = 8)"."""
    by_word = {}
    for each in outcomes:
        by_word.setdefault(each.verdict, []).append(each.label)
    if len(by_word) == 1:
        return next(iter(by_word))
    many = len(outcomes) > FEW
    return ", ".join(f"{word} ({f'{len(labels)} of {len(outcomes)}' if many else ', '.join(labels)})"
                     for word, labels in by_word.items())


def spread(outcomes, claim):
    """Of many cases the least and the greatest figure; their table has all."""
    if len(outcomes) <= FEW:
        return labelled(outcomes, "here")
    found = [each.ours for each in outcomes if each.ours is not None]
    return f"{rate(min(found))} to {rate(max(found))} {claim.get('unit', 'x')}" if found else "-"


# ---- pages ---------------------------------------------------------------------------------------------
COLUMNS = {"data_GBps": "GB/s", "time_us_median": "us", "percent_of_roofline": "% of ceiling",
           "bound_GBps": "bound GB/s", "kernel_GBps": "kernel GB/s", "table_bytes": "table bytes",
           "workspace_bytes": "workspace bytes", "shared_bytes": "shared bytes", "setup_us": "set-up us"}


def by_number(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def rows_table(tables, pivot=None):
    """A line for each row; with a pivot {line, column}, templates, the best GB/s of each."""
    tables = [each for each in tables if not each.empty]
    if not tables:
        return ""
    rows = pd.concat(tables).drop_duplicates("row")
    if pivot:
        best_first = rows.sort_values("data_GBps", ascending=False)
        found = pd.DataFrame({"line": texts(rows, pivot["line"]), "column": texts(rows, pivot["column"])}).assign(
            GBps=best_first.data_GBps)
        order = {field: sorted(found[field].unique(), key=by_number) for field in ("line", "column")}
        found = found.pivot_table(index="line", columns="column", values="GBps", aggfunc="max").reindex(
            index=order["line"], columns=order["column"])
        return "GB/s:\n\n" + markdown(found.map(lambda value: "-" if value != value else rate(value)).rename_axis(
            "", axis=0).rename_axis(None, axis=1).reset_index())
    table = {"row": rows.row.map("`{}`".format)}
    for column, heading in COLUMNS.items():
        if column in rows and (rows[column].fillna(0) != 0).any():
            table[heading] = rows[column].map(lambda value: "-" if value != value or value == 0 else
                                              f"{value:,.0f}" if "bytes" in column else rate(value))
    return markdown(pd.DataFrame(table))


def labelled(outcomes, field, between="; "):
    """The texts of a field, each with the cases that have it."""
    by_text = {}
    for each in outcomes:
        by_text.setdefault(getattr(each, field), []).append(each.label)
    by_text.pop("", None)
    alone = sum(map(len, by_text.values())) == len(outcomes) and len(by_text) == 1
    return between.join(text if alone or not any(labels) else f"{', '.join(labels)}: {text}"
                        for text, labels in by_text.items()) or "-"


def source_line(run):
    def source(path, facts):
        said = [facts.get("gpu") or "no GPU", f"{facts['cpu']}, {facts['cpu_cores']} cores",
                f"commit {facts.get('commit', '')[:12]}", facts.get("date_utc", "")]
        return f"`{path.name}` ({'; '.join(said)})"

    files = " and ".join(source(path, facts) for path, facts in zip(run.paths, run.contexts))
    problems = [f"> **This run is {word}: {run.fact(word)}.**" for word in ("void", "unfit") if run.fact(word)]
    missing = "" if run.fact("gpu") else "\n\nThis machine has no GPU: claims about GPUs were not run."
    if run.fact("gpu") and run.sass is None:
        missing = ("\n\nThere is no `sass.csv` beside the result file, so the instructions of the kernels were not "
                   "counted: verdicts and sentences that need the counts are missing.")
    return "\n\n".join([f"Generated by `papers/report/write.py` from `gfk_papers`: {files}.{missing}", *problems])


def paper_page(data, run):
    paper, define = data["paper"], data.get("define", {})
    lines, sections = [], []
    for claim in data["claim"]:
        found = [outcome(case, run, substituted(data["carry_free"], define)) for case in cases(claim, define)]
        anchor = f"[{claim['line']}](#{claim['line'].lower()})"
        paper_says = claim.get("theirs") or labelled(found, "paper")
        lines.append({"line": anchor, "claim": claim["claim"], "paper": paper_says, "here": spread(found, claim),
                      "here / paper": labelled(found, "ratio"), "verdict": f"**{summary(found)}**",
                      "CARRY_FREE": labelled(found, "carry_free")})
        hardware = claim.get("hardware", paper["hardware"])
        whys = labelled(found, "why", "\n- ") if any(each.why for each in found) else ""
        by_case = pd.DataFrame([{"case": each.label, "paper": each.paper, "here": each.here, "verdict": each.verdict}
                                for each in found] if len(found) > 1 else [])
        sections += [f"### {claim['line']}", f"{claim['claim']} Measured there on: {hardware}. "
                     f"Verdict: **{summary(found)}**."
                     + (f" Its rule: {labelled(found, 'rule')}." if any(each.rule for each in found) else "")
                     + (f" Its rows: {labelled(found, 'file')}." if any(each.file for each in found) else ""),
                     "" if by_case.empty else markdown(by_case), f"- {whys}" if "\n- " in whys else whys,
                     rows_table([each.rows for each in found], claim.get("pivot"))]
    body = [f"# {paper['title']}", paper["about"], source_line(run), markdown(pd.DataFrame(lines)),
            "## Line by line", *sections]
    return "\n\n".join(filter(None, body)) + "\n", lines


def contradictions(run):
    parts = []
    for each in read("contradictions")["contradiction"]:
        figures = Figures(run, each["rows"])
        parts += [f"### {each['title']}", each["sides"], rows_table([figures.table()], each.get("pivot"))]
        try:
            parts.append(figures.sentences(each["answer"]))
            if len(run.paths) > 1:
                parts.append(f"The rows are of `{figures.file}`.")
        except NotRun as reason:
            parts.append(f"Not run here: {reason}.")
    return parts


ABOUT = """A study of five papers about Galois-field and Reed-Solomon arithmetic on GPUs: {claims} claims, each measured again on one machine.
Nobody types a verdict; the report computes it from the run:

- **reproduced**: the paper's effect is there, in the same direction by more than 5 %; or, if the paper found no
  effect, there is none of 5 %;
- **reversed**: the effect has the opposite direction;
- **no longer matters**: the difference is below 5 %;
- **works**: the line is a feature, not a measurement, and a named test or a measured figure shows it;
- **not run here**: the run does not have the rows, and the page says why. A test may be named all the same.

Rates of one GPU repeat within 2 %, so 5 % are a difference. A CPU's rate, of one thread or of all cores, differs by half
from run to run, and more than three times where the server does other work. So does a GPU's rate divided by a CPU's: where
the ratio may be near 1 the rule asks for more, and says so.

Where a claim is not a plain gain, its page prints the rule, with the verdict where the rule does not hold. `ours` in a
rule is the figure in the column *here*, in bold where the column has several; other names are rows, which the paper's
`claims.toml` defines. The hardware of each paper stands on its page.

The column *CARRY_FREE* says what the carry-less multiply-add makes of a claim about tables, loops or compiling.
*No longer matters*: the library's kernel with run-time constants and without tables has at least 95 % of memory speed at
the claim's shape (`percent_of_roofline` of the row that `claims.toml` names), so nothing is left to gain. *Still matters*: the
kernel has less; its percentage stands there.

## Run it

`scripts/papers.sh` builds, measures and writes these pages, with a GPU in less than 8 minutes; without one it measures the
claims about CPUs. On a machine with another GPU its record goes to `papers/results/GPU`, and the pages to
`build/papers/pages`. `scripts/papers.sh test` runs the library's tests on each kernel that is only here.

## Cite it

Cite the five papers for their claims, and this study by the commit that the line *Generated* names: "gf-kernels, papers/,
commit ..., measured on ...".

{references}

The record with every row is [results/h200/papers.json]({root}/papers/results/h200/papers.json); the instructions that sentences
count are in `sass.csv` next to it. Every output of a measured kernel was compared byte by byte, but for probes that leave
something out on purpose, and for sums in registers ([probes]({root}/papers/probes/README.md)).

## What is here

| folder or file | content |
| --- | --- |
| `gpu-rscode`, `gf-gpu`, `opencl`, `gibraltar`, `nuclei` | a paper: `README.md`, its page, which the report writes; `claims.toml`, its claims as data; `rows.cpp`, what is measured for them |
| [CLAIMS.md]({root}/papers/CLAIMS.md) | the fields of `claims.toml` and `contradictions.toml` |
| [kernels]({root}/papers/kernels/README.md) | steps of the papers as rows and engines of the library, in a build of its own |
| [probes]({root}/papers/probes/README.md) | kernels that repeat published variants, or show what binds one |
| `report` | `write.py` writes the pages, `sass.py` counts instructions |
| `results` | the last complete run on each GPU |"""


def kernels_named():
    """The regular expressions of all sass(...)."""
    found = set()
    for name in (*NAMES, "contradictions"):
        data = read(name)
        for each in data.get("claim", []) + data.get("contradiction", []):
            for case in cases(each, data.get("define", {})):
                found.update(json.loads(f'"{name}"') for name in re.findall(r"sass\('([^']+)'", json.dumps(case)))
    return sorted(found)


def pages(paths, folder):
    """Text by file name, of files in this folder."""
    run, found, index = Run(paths), {}, []
    asked = {context["paper"] for context in run.contexts}
    for name in NAMES:
        if not asked & {name, "all"}:
            continue
        data = read(name)
        found[f"{name}/README.md"], lines = paper_page(data, run)
        page = [{**line, "line": line["line"].replace("(#", f"({name}/README.md#")} for line in lines]
        index += [f"## {data['paper']['title']}", markdown(pd.DataFrame(page)[["line", "claim", "paper", "here",
                                                                               "verdict", "CARRY_FREE"]])]
    index += ["## Where the papers contradict each other"]
    index += contradictions(run) if "all" in asked or asked.issuperset(NAMES) else ["Not run: this needs all five papers."]
    about = ABOUT.replace("{claims}", str(sum(len(read(name)["claim"]) for name in NAMES)))
    about = about.replace("{references}", "\n".join(f"- {read(name)['paper']['reference']}." for name in NAMES))
    found["README.md"] = "\n\n".join(filter(None, ["# Five papers, measured again", about, source_line(run), *index])) + "\n"
    return {name: text.replace("{root}", os.path.relpath(ROOT, (folder / name).parent)) for name, text in found.items()}
