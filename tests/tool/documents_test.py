#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The man page, docs/tool.md and the completions have every command and option that --help has, and
no others."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys

import harness
from harness import check, gfk

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def options_of(text):
    """Long options and letters at the beginning of the lines of a --help."""
    found = set()
    for letter, name in re.findall(r"^ {2,}(-\w)?,? *(--[a-z-]+)", text, re.M):
        found |= {name, letter} - {""}
    return found


def commands():
    return re.findall(r"^  ([a-z0-9]+)  ", gfk("--help").text, re.M)


def every_command_has_help():
    names = commands()
    check(len(names) == 11 and names[-1] == "help", names)
    for name in names[:-1]:
        text = gfk(name, "--help").text
        check(text.startswith(f"usage: gfk {name}") and {"--help", "-h"} <= options_of(text), text)
        for arguments in ((name, "-h"), ("help", name)):
            check(gfk(*arguments).text == text, arguments)
    for arguments in (("-h",), ("help",), ("help", "help"), ("help", "--help"), ("help", "-h")):
        check(gfk(*arguments).text == gfk("--help").text, arguments)
    check(gfk("-V").text == gfk("--version").text, "-V")


def the_man_page():
    path = os.path.join(os.path.dirname(sys.argv[1]), "man", "gfk.1")
    if not os.path.exists(path):
        raise harness.Skipped("the build made no man page for this program")
    page = read(path)
    documented = {"-" + o for o in re.findall(r"^\.It Fl (?:\w , Fl )?(-[a-z-]+)", page, re.M)}
    documented |= {"-" + o for o in re.findall(r"^\.It Fl (\w) ", page, re.M)}
    offered = options_of(gfk("--help").text)
    for name in commands():
        check(re.search(rf"^\.It Cm (\w+ , Cm )?{name}\b", page, re.M), f"{name} is not explained")
        offered |= options_of(gfk(name, "--help").text)
    check(documented == offered, f"gfk.1 has {sorted(documented ^ offered)} or lacks them")
    if shutil.which("mandoc"):
        run = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], capture_output=True, text=True, check=False)
        check(run.returncode == 0, run.stdout)


def the_document():
    page = read("docs", "tool.md")
    for name in commands():
        check(f"`gfk {name}" in page, f"docs/tool.md does not have {name}")
        for option in options_of(gfk(name, "--help").text):
            check(f"`{option}" in page, f"docs/tool.md does not have {option}")
    for code in range(8):
        check(f"| {code} |" in page, f"docs/tool.md does not have exit code {code}")


SCRIPTS = os.path.join(os.path.dirname(sys.argv[1]), "completion", "gfk.")
MATRICES = {"cauchy", "vandermonde", "reed_sol_van", "cauchy_good", "gen_rs", "gen_cauchy1"}


def shell(program, *arguments, cwd):
    """Runs a shell that finds the tool by its name."""
    path = os.path.dirname(harness.options.tool) + os.pathsep + os.environ["PATH"]
    name = os.path.basename(harness.options.tool)
    check(name == "gfk", "the completions are those of gfk")
    run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, cwd=cwd,
                         env=dict(os.environ, PATH=path, HOME=cwd))
    check(run.returncode == 0 and run.stderr == "", run.stderr)
    return run.stdout


def in_bash(cwd, *words):
    """What bash replaces its last word with. bash cuts words at =."""
    words = [part for word in words for part in re.split("(=)", word)]
    if len(words) > 1 and words[-2:] == ["=", ""]:
        words.pop()
    script = 'source "$1"; shift; COMP_WORDS=(gfk "$@"); COMP_CWORD=$#; _gfk; ' \
             'printf "%s\\n" "${COMPREPLY[@]}"'
    return set(shell("bash", "-c", script, "bash", SCRIPTS + "bash", *words, cwd=cwd).splitlines()) - {""}


def in_fish(cwd, *words):
    line = " ".join(["gfk", *words[:-1], words[-1].replace(" ", "\\ ")])
    out = shell("fish", "--no-config", "-c", f"source {SCRIPTS}fish; complete -C $argv[1]", line, cwd=cwd)
    found = {text.split("\t")[0] for text in out.splitlines()}
    option = re.match("--[a-z-]+=", words[-1])
    return {text.removeprefix(option[0]) for text in found} if option else found


def sets_to_complete(folder):
    """Two bases here, one in a folder below, and names that no line can offer."""
    os.mkdir(folder / "sub")
    os.mkdir(folder / "sub\nb.gfk")
    for name in ("c", "my file", "sub/b", "a\nscrub\tx"):
        folder.write(name, b"x")
        folder.gfk("encode", "-q", "-k2", "-m1", name)
    os.unlink(folder / "a\nscrub\tx")
    os.unlink(folder / "my file")
    folder.write("my own", b"x")


def offers_of(offered, cwd):
    names = commands()
    check(offered(cwd, "") == {*names, "--help", "--version"}, offered(cwd, ""))
    check(offered(cwd, "ver") == {"verify"}, offered(cwd, "ver"))
    for name in names[:-1]:
        options = options_of(gfk(name, "--help").text)
        check(offered(cwd, name, "-") == options, f"{name}: {offered(cwd, name, '-') ^ options}")
        check(offered(cwd, name, "--", "-") == offered(cwd, name, "-nothing"), f"{name} -- -")
    check(offered(cwd, "help", "") == set(names), offered(cwd, "help", ""))
    check(offered(cwd, "methods", "") == {"8", "16", "32"}, "widths")
    check(offered(cwd, "par2", "") == {"create", "verify", "repair"}, "commands of par2")
    check("my own" in offered(cwd, "par2", "create", "my"), "files of par2")
    for words, values in ((("encode", "--matrix"), MATRICES),
                          (("verify", "--backend"), {"auto", "cuda", "host"}),
                          (("advise", "--width"), {"8", "16", "32"})):
        check(offered(cwd, *words, "") == values, offered(cwd, *words, ""))
        check(offered(cwd, words[0], words[1] + "=") == values, offered(cwd, words[0], words[1] + "="))
    check(offered(cwd, "encode", "-w", "1") == {"16"}, "a letter's value")
    check(offered(cwd, "encode", "--matrix=gen_") == {"gen_rs", "gen_cauchy1"}, "a value's beginning")
    check(offered(cwd, "encode", "-k", "") == set(), "a number")
    for name in ("decode", "verify", "repair", "info"):
        check(offered(cwd, name, "") == {"c", "my file", "sub/"}, offered(cwd, name, ""))
    for words in (("scrub",), ("decode", "--in"), ("encode", "--to", "sub,")):
        before = words[-1] if words[-1].endswith(",") else ""
        found = offered(cwd, *words) if before else offered(cwd, *words, "")
        check(found == {before + "sub/"}, f"{words}: {found}")
    check(offered(cwd, "repair", "--to=sub/,s") == {"sub/,sub/"}, "the second folder")
    check(offered(cwd, "verify", "sub/") == {"sub/b"}, offered(cwd, "verify", "sub/"))
    check(offered(cwd, "verify", "--quiet", "c.gfk.") == {f"c.gfk.00{i}" for i in range(3)}, "shards")
    check(offered(cwd, "verify", "my f") == {"my file"}, offered(cwd, "verify", "my f"))
    check({"c", "my own"} <= {n.rstrip("/") for n in offered(cwd, "encode", "")}, "files")
    check("sub" in {n.rstrip("/") for n in offered(cwd, "decode", "--output=su")}, "an output")


def typed(program, arguments, setup, line, cwd):
    """Types a line and a tab into an interactive shell; the words of the line afterwards."""
    pid, terminal = pty.fork()
    if pid == 0:
        path = os.path.dirname(harness.options.tool) + os.pathsep + os.environ["PATH"]
        os.chdir(cwd)
        os.execvpe(program, [program, *arguments],
                   dict(os.environ, PATH=path, HOME=cwd, TERM="dumb", LC_ALL="C"))
    seen = b""

    def read_until(mark):
        nonlocal seen
        while mark not in seen:
            ready, _, _ = select.select([terminal], [], [], 30)
            check(ready, f"{program} is silent after {seen}")
            seen += os.read(terminal, 65536)

    try:
        os.write(terminal, setup.encode() + b"; echo rea''dy\n")
        read_until(b"ready\r\n")
        os.write(terminal, line.encode() + b"\t\x01printf '<%s>' \x05; echo do''ne\n")
        read_until(b"done\r\n")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    return re.findall(r"<([^>]*)>", seen.decode().rsplit("\n<", 1)[-1].join(["<", ""]))


def lines_of(program, arguments, setup, cwd):
    """In a real shell: what a tab makes of a line."""
    for line, words in (("enc", ["encode"]), ("encode --matr", ["encode", "--matrix"]),
                        ("encode --matrix=cauchy_", ["encode", "--matrix=cauchy_good"]),
                        ("encode --matrix v", ["encode", "--matrix", "vandermonde"]),
                        ("verify my", ["verify", "my file"]), ("verify my\\ f", ["verify", "my file"]),
                        ("verify sub/", ["verify", "sub/b"]), ("info s", ["info", "sub/"]),
                        ("decode --output=my\\ o", ["decode", "--output=my own"]),
                        ("decode -q c.gfk.002", ["decode", "-q", "c.gfk.002"])):
        found = typed(program, arguments, setup, "gfk " + line, cwd)
        check(found == ["gfk", *words], f"{program}: {line} becomes {found}")


def the_completion():
    if not os.path.exists(SCRIPTS + "bash"):
        raise harness.Skipped("the build made no completions for this program")
    for program, offered, start in (
            ("bash", in_bash, (["--norc", "-i"], f"source {SCRIPTS}bash")),
            ("fish", in_fish, None),
            ("zsh", None, (["-f", "-i"], "autoload -U compinit; compinit -u -D; bindkey -e"))):
        if not shutil.which(program):
            print(f"skipped: there is no {program}")
            continue
        with harness.Folder() as folder:
            sets_to_complete(folder)
            if offered:
                offers_of(offered, folder.path)
            if start:
                os.mkdir(folder / ".functions")
                shutil.copy(SCRIPTS + "zsh", folder / ".functions/_gfk")
                lines_of(program, start[0], "fpath=(~/.functions $fpath); " + start[1], folder.path)


def the_first_example_of_the_document():
    """As docs/tool.md prints it, without the build: it works in a temporary folder."""
    block = re.search(r"^```sh\n(.*?)^```$", read("docs/tool.md"), re.M | re.S)[1]
    build, rest = block.split("\n", 1)
    check(build.startswith("./scripts/quickstart.sh tool") and "gfk decode" in block, block)
    before = sorted(os.listdir(ROOT))
    with harness.Folder() as folder:
        path = os.path.dirname(harness.options.tool) + os.pathsep + os.environ["PATH"]
        run = subprocess.run(["bash", "-ec", rest], cwd=os.path.realpath(ROOT), text=True,
                             env=dict(os.environ, PATH=path, TMPDIR=folder.path), capture_output=True, check=False)
        check(run.returncode == 0, run.stderr)
        [inside] = folder.names()
        names = os.listdir(folder / inside)
        check(folder.read(f"{inside}/archive.tar") == folder.read(f"{inside}/before.tar"), "the file is back")
        check(len([n for n in names if n.startswith("archive.tar.gfk.")]) == 14, "and all shards")
    check(sorted(os.listdir(ROOT)) == before, "nothing in the current folder")


harness.main(every_command_has_help, the_man_page, the_document, the_completion,
             the_first_example_of_the_document)
