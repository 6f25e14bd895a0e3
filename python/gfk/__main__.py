# SPDX-License-Identifier: BSD-3-Clause
"""python -m gfk: what this installation is, and where its parts are.

  python -m gfk                 version, places, engines, devices and driver
  python -m gfk --cmake-dir     the folder for CMAKE_PREFIX_PATH or gfk_DIR: find_package(gfk) finds the library
  python -m gfk --pkgconfig-dir the folder for PKG_CONFIG_PATH
  python -m gfk --include-dir   the folder of gfk/gfk.h
  python -m gfk --lib-dir       the folder of libgfk.so
  python -m gfk --program       the program gfk

An option prints one path, or says what is missing and ends with exit status 1."""

import argparse
import pathlib
import subprocess
import sys

import gfk

HERE = pathlib.Path(gfk.__file__).parent
PATHS = {  # option: what it prints, and a file that is there
    "cmake-dir": ("lib/cmake/gfk", "gfk-config.cmake"),
    "pkgconfig-dir": ("lib/pkgconfig", "gfk.pc"),
    "include-dir": ("include", "gfk/gfk.h"),
    "lib-dir": ("lib", "libgfk.so"),
    "program": ("bin/gfk", ""),
}


def gpus():
    """Name, compute capability and driver of each GPU: lines of nvidia-smi, none without a driver."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,compute_cap,driver_version",
             "--format=csv,noheader"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.split(", ") for line in done.stdout.splitlines() if line.count(", ") == 2]


def names(values):
    return ", ".join(dict.fromkeys(values)) or "none"


def describe():
    """The lines of `python -m gfk`."""
    cards = gpus()
    yield f"gfk {gfk.__version__} in {HERE}"
    yield "driver: " + (cards[0][2] if cards else "none, or nvidia-smi does not answer")
    yield from (f"GPU: {name}, compute capability {capability}" for name, capability, _ in cards)
    engines = gfk.engines("cpu")
    yield "cpu: engines " + names(e.family for e in engines if e.available)
    on_cpu = {e.id for e in engines if e.available}
    missing = {e.family: e.reason for e in engines if e.family in ("isal", "gfcomplete") and not e.available}
    yield from (f"  without {family}: {reason}" for family, reason in missing.items())
    for number in range(max(len(cards), 1)):
        place = f"cuda:{number}"
        found = gfk.engines(place)
        usable = [e.family for e in found if e.available and e.id not in on_cpu]
        reasons = [e.reason for e in found if not e.available and e.id not in on_cpu and e.family not in missing]
        yield f"{place}: " + (f"engines {names(usable)}" if usable else f"not used: {reasons[0]}")


def main():
    parser = argparse.ArgumentParser(prog="python -m gfk", usage="%(prog)s [OPTION]", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("-h", "--help", action="store_true", help=argparse.SUPPRESS)
    for name in PATHS:
        one.add_argument(f"--{name}", dest="path", action="store_const", const=name, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
    elif arguments.path is None:
        print(*describe(), sep="\n")
    else:
        folder, file = PATHS[arguments.path]
        if not (HERE / folder / file).exists():
            return f"gfk: {HERE / folder} is not there: this package was built for an installed libgfk"
        print(HERE / folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
