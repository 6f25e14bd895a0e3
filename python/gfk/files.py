# SPDX-License-Identifier: BSD-3-Clause
"""Files as sets of Reed-Solomon shards: any k of k + m shards restore a file.

The functions run the program `gfk` that the package carries. Each call is a process of its own, so that
any number of threads and processes may call; runs in one folder lock it. docs/tool.md says what the
commands do, and lists the keys of their reports.

A path is a str, bytes or os.PathLike. `base` is the path of shards without ".gfk.000", usually that of the
file; a folder stands for all sets in it; a list of bases, folders and shards stands for all of them.

Options that several functions have:
  folders           where the shards of each base are, if they are in several folders
  to                the folders for new shards
  force             replace files that are not shards of this set
  device            where to compute: "cpu", "cuda", "cuda:1"; None: what is faster
  threads           threads that compute on the CPU; None: one for each core
  memory            bytes of buffers; None: 256 MiB

Errors: TooManyErasures (the file cannot be restored, or there are no shards), Io (a file cannot be read or
written), Exists (a file is in the way), NoDevice (the device), InvalidArgument (an option), NotSupported
(the package was built without the program), Internal (the program died, or printed no such reports),
TypeError (a number that is no integer). An exception's `reports` has the reports of all sets.
"""

import contextlib
import json
import operator
import os
import pathlib
import re
import shutil
import signal
import subprocess

from . import _core


class Exists(_core.Io, FileExistsError):
    """A file is in the way; force=True replaces it."""


_PROGRAM = pathlib.Path(__file__).with_name("bin") / "gfk"
if not _PROGRAM.exists():  # the package was built for an installed library
    _PROGRAM = pathlib.Path(shutil.which("gfk") or _PROGRAM)
_PATIENCE = 5  # seconds that the program has to end when it is told to
_INTEGERS = ("polynomial", "block_size", "threads", "memory")
_DAMAGED = 1  # the exit code of verify and scrub for damage that repair can restore
_ARGUMENTS = {"data": "k", "parity": "m", "width": "w", "in": "folders"}  # where an option has another name
_CLASSES = {
    2: _core.InvalidArgument,
    3: _core.TooManyErasures,
    4: _core.Io,
    5: Exists,
    6: _core.NoDevice,
}


def _paths(value):
    return [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)


def _path(value):
    path = os.fsencode(value)
    return b"./-" if path == b"-" else path  # to the program - is a standard stream


def _folder(value):
    return os.fsencode(value).replace(b",", b"\\,")


def _integer(name, value):
    try:
        if not isinstance(value, bool):
            return int(operator.index(value))
    except TypeError:
        pass
    raise TypeError(f"{name}: an integer is needed, not {value!r}")


def _device(value):
    """The arguments for a device."""
    named = hasattr(value, "type") and hasattr(value, "index")  # torch.device
    if not isinstance(value, str) and not named:
        raise TypeError(f'device: a string is needed, "cpu", "cuda" or "cuda:0", not {type(value).__name__}')
    found = re.fullmatch(r"cpu|cuda(?::(\d{1,9}))?", str(value), re.ASCII)
    if found is None:
        raise _core.InvalidArgument(f'device: "{value}" is no device; "cpu", "cuda", "cuda:0", "cuda:1", ... are')
    if found[0] == "cpu":
        return [b"--backend=host"]
    return [b"--backend=cuda"] + ([b"--device=" + found[1].encode()] if found[1] else [])


def _option(name, value):
    """The arguments for an option of the program; None, False and no folders: none."""
    if name == "device" and value is not None:
        return _device(value)
    option = b"--" + name.replace("_", "-").encode()
    if name in _INTEGERS and value is not None:
        value = _integer(name, value)
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    if name in ("to", "in"):
        return [option + b"=" + _folder(folder) for folder in _paths(value)]
    if name == "output":
        return [option + b"=" + _path(value)]
    return [option + b"=" + str(value).encode()]


def _argument(option):
    """The argument's name, with that of the program's option."""
    return f"{_ARGUMENTS[option[1]]} ({option[0]})"


def _end(process):
    """Ends the program, which removes its unfinished files, or kills it if that takes too long."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    except BaseException:
        process.kill()
        raise


def _communicate(process):
    """The output of the program. An exception here, such as KeyboardInterrupt, ends the program."""
    try:
        return process.communicate()
    except BaseException:
        _end(process)
        raise


def _report(command, line):
    """The report that a line holds; None: the program prints no such line."""
    try:
        report = json.loads(line)
        messages = report["messages"]
        whole = (report["command"] == command and type(report["exit"]) is int and type(messages) is list
                 and all(isinstance(text, str) for text in messages))
    except (LookupError, TypeError, ValueError, RecursionError):
        return None
    return report if whole else None


def _defect(command, code, lines, reports):
    """What is wrong with the program's answer; None: nothing."""
    if code < 0:
        return f"signal {-code} ended the program"
    if None in reports:
        line = os.fsdecode(lines[reports.index(None)][:200])
        return f"the program's exit code is {code}, and this line is not a report of gfk {command}: {line}"
    if code > _DAMAGED:
        return None
    if not reports or (command == "encode" and len(reports) != 1):
        return f"the program's exit code is {code}, and it printed {len(reports)} reports"
    if max(report["exit"] for report in reports) != code or (code and command not in ("verify", "scrub")):
        return f"the program's exit code is {code}, which its reports do not explain"
    return None


def _run(command, paths, **options):
    if not _PROGRAM.exists():
        raise _core.NotSupported(
            "this build of gfk has no program gfk: install xxHash with its static library (Debian: "
            "libxxhash-dev), and build the package again"
        )
    arguments = [os.fsencode(_PROGRAM), command.encode(), b"--json"]
    for name, value in options.items():
        arguments += _option(name, value)
    arguments += [b"--", *map(_path, paths)]
    process = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        stdout, stderr = _communicate(process)
    code = process.returncode
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    lines = stdout.splitlines()
    reports = [_report(command, line) for line in lines]
    defect = _defect(command, code, lines, reports)
    reports = [report for report in reports if report is not None]
    if defect is None and code in (0, _DAMAGED):
        return reports
    failed = [report for report in reports if report["exit"] not in (0, _DAMAGED)]
    messages = [text for report in failed for text in report["messages"]]
    messages += os.fsdecode(stderr).splitlines()
    messages += [defect] if defect else []
    kind = _core.Internal if defect else _CLASSES.get(code, _core.Internal)
    if kind is _core.InvalidArgument:
        messages = [re.sub(r"^--(data|parity|width|in)\b", _argument, text) for text in messages]
    error = kind("\n".join(messages) or f"the program's exit code is {code}")
    error.reports = reports
    raise error


def encode(path, k, m, *, w=8, polynomial=None, matrix="cauchy", block_size=None, output=None, to=None,
           force=False, device=None, threads=None, memory=None):
    """Writes k + m shards of a file: FILE.gfk.000, FILE.gfk.001, ...

    path: of the file. output: the base of the shards, if not that of the file. to: shard i goes to folder i
    modulo the number of folders. w, polynomial, matrix: of the code. block_size: bytes under one checksum, a
    multiple of 64. Returns the report, a dict: file, shards, k, m, bytes, seconds, engine, messages.
    Raises Exists if other shards or files are in the way."""
    [report] = _run("encode", [path], data=_integer("k", k), parity=_integer("m", m), width=_integer("w", w),
                    polynomial=polynomial, matrix=matrix, block_size=block_size, output=output, to=to,
                    force=force, device=device, threads=threads, memory=memory)
    return report


def decode(base, *, output=None, folders=None, force=False, partial=False, device=None, threads=None,
           memory=None):
    """Restores files from their shards, any k of each set.

    output: the file, if not the stored name beside the shards. partial: write a file that cannot be restored
    completely, too, and raise TooManyErasures, whose reports list what is missing. Returns a list of reports, one dict
    for each set: output, bytes, damaged_stripes, seconds, engine, messages. Raises Exists if the file is there, and
    TooManyErasures."""
    return _run("decode", _paths(base), output=output, force=force, partial=partial, device=device, threads=threads,
                memory=memory, **{"in": folders})


def verify(base, *, folders=None, device=None, threads=None, memory=None):
    """Checks all shards, and whether the files can be restored.

    Returns a list of reports, one dict for each set: bad_shards is 0 for a set without damage; shards lists
    the state of each. Raises TooManyErasures if a file cannot be restored."""
    return _run("verify", _paths(base), device=device, threads=threads, memory=memory, **{"in": folders})


def repair(base, *, folders=None, to=None, force=False, device=None, threads=None, memory=None):
    """Writes missing and damaged shards again.

    Returns a list of reports, one dict for each set: repaired (a number), written (paths), and shards as
    they were. Raises TooManyErasures and Exists."""
    return _run("repair", _paths(base), to=to, force=force, device=device, threads=threads,
                memory=memory, **{"in": folders})


def scrub(folders, *, repair=False, force=False, device=None, threads=None, memory=None):
    """Verifies, and with repair=True repairs, all sets in folders and in all folders below.

    Returns a list of reports, one dict for each set: verdict is "ok", "damaged" or "repaired". Raises
    TooManyErasures if one of the files is lost, after all sets were checked."""
    return _run("scrub", _paths(folders), repair=repair, force=force, device=device, threads=threads,
                memory=memory)


def info(base, *, folders=None):
    """Describes the files that shards belong to, from the headers alone.

    Returns a list of reports, one dict for each set: name, bytes, mtime, k, m, w, matrix, shards, ..."""
    return _run("info", _paths(base), **{"in": folders})
