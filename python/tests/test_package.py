# SPDX-License-Identifier: BSD-3-Clause
"""The package itself: names, documentation, stubs, version, and the example in README.md."""

import ast
import inspect
import pathlib
import re
import shutil
import subprocess
import sys

import gfk
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(gfk.__file__).parent
PUBLIC = sorted(gfk.__all__)
MAJOR, MINOR, PATCH = (int(part) for part in gfk.__version__.split("."))


def members(kind):
    """The public methods and properties of a class."""
    for name, member in vars(kind).items():
        if not name.startswith("_") and (callable(member) or inspect.isdatadescriptor(member)):
            yield name, member


def test_version():
    version = re.findall(r"GFK_VERSION_M?[A-Z]+ (\d+)", (ROOT / "include/gfk/gfk.h").read_text())
    assert gfk.__version__ == ".".join(version)


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_is_documented(name):
    thing = getattr(gfk, name)
    if not callable(thing):
        return
    assert (thing.__doc__ or "").strip(), f"gfk.{name} has no docstring"
    if isinstance(thing, type) and not issubclass(thing, Exception):
        for member, value in members(thing):
            text = re.sub(r"^\w*\(.*\) -> .*$", "", value.__doc__ or "", flags=re.M)  # without the signature
            assert text.strip(), f"gfk.{name}.{member} has no docstring"


def test_nothing_else_is_public():
    """What the package's modules import is no name of gfk."""
    modules = {name for name in vars(gfk) if inspect.ismodule(getattr(gfk, name))}
    for name in (name for name in modules if not name.startswith("_")):
        assert name in sys.stdlib_module_names or getattr(gfk, name).__doc__, name
    assert not [name for name in PUBLIC if getattr(gfk, name) is None]


def test_stubs():
    """The stubs name everything of the extension module, with a docstring and types."""
    assert (PACKAGE / "py.typed").exists()
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    found = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    public = {name for name in dir(gfk._core)
              if not name.startswith("_") and callable(getattr(gfk._core, name))}
    assert public <= found, f"not in the stubs: {public - found}"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not any(
                isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list):
            named = [a for a in node.args.args if a.arg not in ("self", "arg")]
            assert all(a.annotation is not None for a in named), f"{node.name} has an argument without a type"
            assert node.returns is not None and ast.unparse(node.returns) != "object", node.name


def test_importing_needs_little():
    """numpy alone of the frameworks: who uses torch imports it."""
    program = "import sys, gfk; print(*(m for m in ('torch', 'jax', 'cupy') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


FORKS = """
import os, signal, threading
import gfk, numpy

data = numpy.random.default_rng(1).integers(0, 256, (64, 1 << 14), numpy.uint8)
code, rs, ends = gfk.RLNC(64, 1 << 14), gfk.RS(60, 4), threading.Event()
packets, decoder = code.encode(data, 64, 64), code.decoder()

def work():
    while not ends.is_set():
        decoder.reset()
        decoder.add(range(64, 128), packets)
        rs.decode(data[:60], data[60:], [3, 7])

threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(30):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that hangs
        decoder.reset()
        decoder.add(range(64, 128), packets)
        good = decoder.rank == 64 and (rs.encode(data[:60]) == gfk.RS(60, 4).encode(data[:60])).all()
        rs.decode(data[:60], data[60:], [3, 7])
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(decoder.rank != 64)
        os._exit(not good or os.waitpid(grandchild, 0)[1] != 0)
    assert os.waitpid(child, 0)[1] == 0, "the child hangs, or is wrong"
ends.set()
for thread in threads:
    thread.join()
"""


def test_fork_while_threads_are_in_calls():
    """The child finds no lock that a thread holds which it does not have."""
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=100)


SECOND = """
import gfk
import _xxsubinterpreters as interpreters

second = interpreters.create(isolated=False)
try:
    interpreters.run_string(second, "import gfk")
except interpreters.RunFailedError as error:
    print(error)
interpreters.destroy(second)
print(gfk.RS(4, 2))
"""


def test_a_second_interpreter_does_no_harm():
    """nanobind's types belong to one interpreter: those of a second one would take their place."""
    pytest.importorskip("_xxsubinterpreters")
    run = subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "main interpreter" in run.stdout and run.stdout.splitlines()[-1].startswith("gfk.RS(4, 2")


@pytest.mark.skipif(not (PACKAGE / "lib").exists(), reason="the package uses an installed libgfk")
def test_the_module_prints_where_things_are():
    def run(*options):
        done = subprocess.run([sys.executable, "-m", "gfk", *options], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    for option, file in (("--cmake-dir", "gfk-config.cmake"), ("--pkgconfig-dir", "gfk.pc"),
                         ("--include-dir", "gfk/gfk.h"), ("--lib-dir", "libgfk.so")):
        assert (pathlib.Path(run(option)) / file).is_file(), option
    text = run()
    assert text.startswith(f"gfk {gfk.__version__} in {PACKAGE}\ndriver: ")
    assert re.search(r"^cpu: engines .*host", text, re.M) and re.search(r"^cuda:0: (engines|not used: )\w+", text, re.M)


@pytest.mark.skipif(not (PACKAGE / "lib").exists(), reason="the package uses an installed libgfk")
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no compiler")
def test_a_program_in_c_links_the_library(tmp_path):
    library = PACKAGE / "lib"
    subprocess.run(["cc", ROOT / "tests/package/consumer/consumer.c", f"-I{PACKAGE / 'include'}", f"-L{library}", "-lgfk",
                    f"-Wl,-rpath,{library}", "-o", tmp_path / "program"], check=True)
    done = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True)
    assert done.stdout == f"gfk {10000 * MAJOR + 100 * MINOR + PATCH}: 1d\n"


# ---- the examples of the documents --------------------------------------------------------------------
def examples_of(path):
    """The blocks of Python in a document, each with its line."""
    text = (ROOT / path).read_text()
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        yield text[: block.start(1)].count("\n"), block[1]


def test_the_example_of_the_readme():
    (_, example), = examples_of("README.md")
    assert len(example.splitlines()) == 5
    names = {}
    exec(compile(example, "README.md", "exec"), names)
    assert not (names["data"][[1, 3, 7]] == 0).any(), "the lost regions are not rebuilt"


def test_the_examples_of_the_manual():
    names, count = {}, 0
    for line, example in examples_of("docs/python/README.md"):
        count += 1
        exec(compile("\n" * line + example, "docs/python/README.md", "exec"), names)
    assert count >= 7
