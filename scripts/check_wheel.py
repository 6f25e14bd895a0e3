#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is in a wheel of gfk? Only the files of the package, whole, and nothing of the machine that built it.

  scripts/check_wheel.py WHEEL [FOLDER...]

Besides this repository's folder, the home folder and the folders of Python's packages, no file may name a
FOLDER. Programs and libraries may need the C and C++ runtimes and the libgfk of the wheel, and no others; they
search the folder of that libgfk alone. The module shows the function that Python calls, and the library the
functions of the headers."""

import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNTIMES = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-[\w-]+)\.so\.\d+|libgfk\.so\.\d+\.\d+")
SEARCHED = {"gfk/_core": "$ORIGIN/lib", "gfk/bin/gfk": "$ORIGIN/../lib"}
LIBRARY = ["libgfk.so", "libgfk.so.SOVERSION", "pkgconfig/gfk.pc"] + [
    f"cmake/gfk/gfk-{name}.cmake" for name in ("config", "config-version", "targets", "targets-release")]
INFORMATION = {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE", "licenses/python/NOTICE"}
ELSEWHERE = re.compile(rb"/(?:home|root|tmp|build)/[\w./+-]+|/[\w./+-]+/lib(?:isal|gf_complete)[\w.]*")


def expected():
    """The files of the package in the repository, and what the build adds."""
    package = ROOT / "python" / "gfk"
    files = [p for p in package.rglob("*") if p.is_file() and p.suffix != ".pyc"]
    listed = {f"gfk/{p.relative_to(package)}" for p in files}
    listed |= {f"gfk/include/gfk/{p.name}" for p in (ROOT / "include" / "gfk").iterdir()}
    listed |= {f"gfk/lib/{name}" for name in LIBRARY}
    return listed | {"gfk/_core.SUFFIX", "gfk/_core.pyi"}, {"gfk/bin/gfk"}


def contents(names):
    needed, allowed = expected()
    found = {re.sub(r"_core\.[\w-]+\.so$", "_core.SUFFIX", n) for n in names if ".dist-info/" not in n}
    found = {re.sub(r"libgfk\.so\.\d+\.\d+$", "libgfk.so.SOVERSION", n) for n in found}
    yield from (f"{name} is missing" for name in sorted(needed - found))
    yield from (f"{name} is not a file of the package" for name in sorted(found - needed - allowed))
    information = {n.partition(".dist-info/")[2] for n in names if ".dist-info/" in n}
    yield from (f"{name} is missing" for name in sorted(INFORMATION - information))


def dynamic(name, file):
    """What the loader reads."""
    if file.read_bytes()[:4] != b"\x7fELF":
        return
    text = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
    for library in re.findall(r"NEEDED.*\[(.*)\]", text):
        if not RUNTIMES.fullmatch(library):
            yield f"{name} needs {library}"
    for path in re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", text):
        if path != SEARCHED.get(re.sub(r"_core\..*", "_core", name)):
            yield f"{name} searches {path}"
    if "bin" not in name.split("/"):  # what a library that is loaded later could take for its own
        symbols = subprocess.run(["readelf", "-W", "--dyn-syms", file], check=True, capture_output=True, text=True).stdout
        defined = [line.split()[7] for line in symbols.splitlines()[4:] if line.split()[6] != "UND"]
        yield from (f"{name} shows {symbol}" for symbol in defined if not re.match("PyInit__core$|gfk_", symbol))


def paths(name, file, folders):
    data = file.read_bytes()
    for folder in folders:
        if folder.encode() in data:
            yield f"{name} names {folder}"
    for path in set(ELSEWHERE.findall(data)):
        yield f"{name} names {path.decode()}"


def main(wheel, *folders):
    folders = {str(ROOT), os.path.expanduser("~"), sysconfig.get_path("purelib"), sys.prefix, *folders}
    folders = {folder for folder in folders if folder.count("/") > 1}  # "/root" is of ELSEWHERE
    found = []
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch)
        names = [n for n in archive.namelist() if not n.endswith("/")]
        found += contents(names)
        for name in names:
            found += dynamic(name, pathlib.Path(scratch, name))
            found += paths(name, pathlib.Path(scratch, name), folders)
            if name == "gfk/bin/gfk" and not archive.getinfo(name).external_attr >> 16 & 0o100:
                found.append(f"{name} is not executable")
    name = os.path.basename(wheel)
    print("\n".join(found) if found else f"{name}: {len(names)} files, nothing of this machine")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
