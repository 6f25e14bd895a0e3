# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import gfk
import pytest
from gfk import files

pytestmark = pytest.mark.skipif(not files._PROGRAM.exists(), reason="built without xxHash")

CONTENT = bytes(range(256)) * 1100 + b"end"
NAMES = ["file", "two words", "new\nline", "-k", "--help", "-", "quote'\"$(x)`;*", "\u00fc\u4e2d", "a,b"]


@pytest.fixture(autouse=True)
def interrupts():
    """A shell may have started the tests with SIGINT ignored, which programs inherit."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return path


def shard(path, index):
    return path.with_name(f"{path.name}.gfk.{index:03}")


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("w", [8, 16, 32])
@pytest.mark.parametrize("matrix", ["cauchy", "vandermonde"])
def test_round_trip(file, w, matrix):
    report = files.encode(file, 3, 2, w=w, matrix=matrix, block_size=4096, device="cpu", threads=1)
    assert (report["k"], report["m"], report["bytes"], report["messages"]) == (3, 2, len(CONTENT), [])
    assert report["file"] == report["shards"] == str(file)
    assert report["seconds"] >= 0 and report["engine"]
    [info] = files.info(file)
    assert (info["w"], info["matrix"], info["name"], info["block_bytes"]) == (w, matrix, "file", 4096)
    assert [s["state"] for s in info["shards"]] == ["ok"] * 5
    file.unlink()
    shard(file, 0).unlink()
    damage(shard(file, 3))
    [report] = files.verify(file)
    assert (report["bad_shards"], report["recoverable"]) == (2, True)
    assert [s["state"] for s in report["shards"]] == ["missing", "ok", "ok", "damaged", "ok"]
    [report] = files.decode(str(file))
    assert report["output"] == str(file) and report["bytes"] == len(CONTENT)
    assert report["damaged_stripes"] > 0
    assert file.read_bytes() == CONTENT
    [report] = files.repair(os.fsencode(file))
    assert report["repaired"] == 2
    assert report["written"] == [str(shard(file, 0)), str(shard(file, 3))]
    assert files.verify(file)[0]["bad_shards"] == 0


def test_polynomial(file):
    files.encode(file, 2, 1, polynomial=0x12D)
    assert files.info(file)[0]["polynomial"] in (0x12D, "0x12d")


def test_unrecoverable(file):
    files.encode(file, 3, 2)
    file.unlink()
    for index in (0, 1, 4):
        shard(file, index).unlink()
    for call in (files.decode, files.verify, files.repair):
        with pytest.raises(gfk.TooManyErasures, match="shard") as raised:
            call(file)
        [report] = raised.value.reports
        assert report["exit"] == 3 and report["messages"]
    assert [s["state"] for s in raised.value.reports[0].get("shards", [])] in (
        [], ["missing", "missing", "ok", "ok", "missing"])
    assert not file.exists()
    with pytest.raises(gfk.TooManyErasures):
        files.verify(file.with_name("nothing"))


def test_existing(file):
    files.encode(file, 2, 1)
    shards = shard(file, 0).read_bytes()
    file.write_bytes(b"another")
    with pytest.raises(files.Exists, match="force") as raised:
        files.decode(file)
    assert isinstance(raised.value, FileExistsError) and isinstance(raised.value, gfk.Io)
    with pytest.raises(files.Exists):
        files.encode(file, 2, 1)
    assert file.read_bytes() == b"another" and shard(file, 0).read_bytes() == shards
    files.decode(file, force=True)
    assert file.read_bytes() == CONTENT


def test_errors(file):
    with pytest.raises(gfk.Io, match="absent.*No such file"):
        files.encode(file.with_name("absent"), 2, 1)
    with pytest.raises(gfk.Io, match="is a folder"):
        files.encode(file.parent, 2, 1)
    with pytest.raises(gfk.InvalidArgument, match="--data"):
        files.encode(file, 0, 1)
    with pytest.raises(gfk.InvalidArgument, match="--matrix"):
        files.encode(file, 2, 1, matrix="none")
    with pytest.raises(gfk.Io, match="a,b"): # one folder, which is not there
        files.encode(file, 2, 1, to=["a,b"])
    with pytest.raises(TypeError):
        files.encode(3, 2, 1)
    with pytest.raises(ValueError):
        files.encode("a\0b", 2, 1)
    if not gfk.Pipeline().info().devices:
        with pytest.raises(gfk.NoDevice):
            files.encode(file, 2, 1, device="cuda:0")
    with pytest.raises(gfk.InvalidArgument, match='device: "gpu" is no device'):
        files.encode(file, 2, 1, device="gpu")
    with pytest.raises(TypeError, match="device: a string is needed"):
        files.encode(file, 2, 1, device=0)
    assert sorted(os.listdir(file.parent)) == ["file"]


def test_without_program(file, monkeypatch):
    monkeypatch.setattr(files, "_PROGRAM", pathlib.Path("/nonexistent/gfk"))
    with pytest.raises(gfk.NotSupported, match="libxxhash-dev"):
        files.encode(file, 2, 1)


@pytest.mark.parametrize("name", NAMES)
def test_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    pathlib.Path(name).write_bytes(CONTENT)
    files.encode(name, 2, 1)
    os.remove(name)
    os.remove(f"{name}.gfk.001")
    [report] = files.decode(name)
    assert pathlib.Path(report["output"]) == pathlib.Path(name)
    assert pathlib.Path(name).read_bytes() == CONTENT
    assert files.repair(name)[0]["repaired"] == 1
    other = f"{name} again"
    files.decode(name, output=other)
    assert pathlib.Path(other).read_bytes() == CONTENT
    os.mkdir("to")
    files.encode(name, 1, 1, output="-base", to="to")
    assert sorted(os.listdir("to")) == ["-base.gfk.000", "-base.gfk.001"]


def test_name_of_bytes(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xfe")
    with open(path, "wb") as file:
        file.write(CONTENT)
    files.encode(path, 2, 1)
    os.remove(path)
    files.decode(path)
    with open(path, "rb") as file:
        assert file.read() == CONTENT


def test_folders(file, tmp_path):
    disks = [tmp_path / f"disk {i}" for i in range(3)]
    for disk in disks:
        disk.mkdir()
    files.encode(file, 4, 2, to=disks)
    assert [len(list(disk.iterdir())) for disk in disks] == [2, 2, 2]
    for lost in disks[1].iterdir():
        lost.unlink()
    [report] = files.verify("file", folders=disks)
    assert report["bad_shards"] == 2
    [report] = files.repair("file", folders=disks)
    assert sorted(report["written"]) == [str(disks[1] / "file.gfk.001"), str(disks[1] / "file.gfk.004")]
    files.decode("file", folders=disks, output=tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == CONTENT


def test_a_folder_of_sets(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_bytes(CONTENT + path.name.encode())
        files.encode(path, 2, 1)
        path.unlink()
    shard(paths[1], 0).unlink()
    reports = files.verify(tmp_path)
    assert [r["name"] for r in reports] == ["a", "b", "c"]
    assert [r["bad_shards"] for r in reports] == [0, 1, 0]
    assert len(files.verify(paths[:2])) == 2
    assert [r["verdict"] for r in files.scrub(tmp_path)] == ["ok", "damaged", "ok"]
    assert [r["verdict"] for r in files.scrub([tmp_path], repair=True)] == ["ok", "repaired", "ok"]
    assert len(files.decode(tmp_path)) == 3
    assert all(path.read_bytes() == CONTENT + path.name.encode() for path in paths)
    shard(paths[2], 0).unlink()
    shard(paths[2], 1).unlink()
    with pytest.raises(gfk.TooManyErasures) as raised:
        files.scrub(tmp_path)
    assert [r["verdict"] for r in raised.value.reports] == ["ok", "ok", "lost"]


def test_processes_at_once(tmp_path):
    paths = [tmp_path / str(i) for i in range(6)]

    def work(path):
        path.write_bytes(CONTENT + path.name.encode())
        files.encode(path, 4, 2, block_size=4096)
        path.unlink()
        shard(path, 1).unlink()
        files.repair(path)
        files.decode(path)
        return path.read_bytes()

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert list(pool.map(work, paths)) == [CONTENT + path.name.encode() for path in paths]
    assert len(os.listdir(tmp_path)) == 7 * len(paths)


def replace_program(path, text, monkeypatch):
    path.write_text(text)
    path.chmod(0o755)
    monkeypatch.setattr(files, "_PROGRAM", path)


def interrupt_scrub(folder, made, monkeypatch):
    """Interrupts files.scrub when the program has made a file and scrub waits for the program: the program may run
    before Popen has returned."""
    communicate, waiting = subprocess.Popen.communicate, threading.Event()

    def wait_for_program(process):
        waiting.set()
        return communicate(process)

    def interrupt():
        waiting.wait()
        while not made.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess.Popen, "communicate", wait_for_program)
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        files.scrub(folder)
    thread.join()


def test_keyboard_interrupt(tmp_path, monkeypatch):
    text = f"""#!{sys.executable}
import pathlib, signal, sys, time
here = pathlib.Path({str(tmp_path)!r})
signal.signal(signal.SIGTERM, lambda *_: ((here / "cleaned").touch(), sys.exit(1)))
(here / "started").touch()
time.sleep(60)
"""
    replace_program(tmp_path / "gfk", text, monkeypatch)
    interrupt_scrub(tmp_path, tmp_path / "started", monkeypatch)
    assert (tmp_path / "cleaned").exists()


def test_killed_program(tmp_path, monkeypatch):
    replace_program(tmp_path / "gfk", "#!/bin/sh\nkill -9 $$\n", monkeypatch)
    with pytest.raises(gfk.Internal, match="signal 9"):
        files.scrub(tmp_path)
    replace_program(tmp_path / "gfk", "#!/bin/sh\nkill -2 $$\n", monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        files.scrub(tmp_path)


def script(text):
    return f"#!/bin/sh\necho a line of stderr >&2\n{text}\n"


WHOLE = '{"command":"verify","messages":[],"exit":%d}'


@pytest.mark.parametrize("text", [
    """printf '{"command":"ver'; kill -9 $$""",  # a part of a line
    f"echo '{WHOLE % 0}'; printf '{{'; kill -9 $$",
    "echo '{'",
    """echo '{"file": "f"}'; exit 4""",
    """echo '{"file": "f"}'""",
    "echo 5",
    "echo '[]'; exit 1",
    "echo '\"command\"'; exit 3",
    "printf '\\377\\n'; exit 1",
    "echo",
    "exit 0",  # no report: nothing was checked
    "exit 1",
    "exit 7",
    "exit 127",
    f"echo '{WHOLE % 0}'; exit 1",  # the codes differ
    f"echo '{WHOLE % 4}'",
    f"echo '{WHOLE % 0}' | sed s/verify/scrub/",
    f"echo '{WHOLE % 0}' | sed s/0/true/",
    f"echo '{WHOLE % 0}' | sed 's/\\[]/[5]/'",
    f"echo '{WHOLE % 0}' | sed 's/\\[]/5/'",
])
def test_wrong_answers(tmp_path, monkeypatch, text):
    replace_program(tmp_path / "gfk", script(text), monkeypatch)
    with pytest.raises(gfk.Internal, match="a line of stderr") as raised:
        files.verify(tmp_path)
    assert all(report["command"] == "verify" for report in raised.value.reports)


def test_right_answers(tmp_path, monkeypatch):
    for code in (0, 1):
        replace_program(tmp_path / "gfk", script(f"echo '{WHOLE % code}'; exit {code}"), monkeypatch)
        assert files.verify(tmp_path) == [{"command": "verify", "messages": [], "exit": code}]
    replace_program(tmp_path / "gfk", script("exit 4"), monkeypatch)
    with pytest.raises(gfk.Io, match="a line of stderr"):
        files.verify(tmp_path)


@pytest.mark.parametrize("text", [
    "exit 0",
    "exit 1",
    """echo '{"command":"encode","messages":[],"exit":1}'; exit 1""",
    """for i in 1 2; do echo '{"command":"encode","messages":[],"exit":0}'; done""",
])
def test_wrong_answers_of_encode(file, tmp_path, monkeypatch, text):
    replace_program(tmp_path / "gfk", script(text), monkeypatch)
    with pytest.raises(gfk.Internal, match="a line of stderr"):
        files.encode(file, 2, 1)


def test_program_that_does_not_end(tmp_path, monkeypatch):
    text = f"""#!/bin/sh
trap '' TERM
echo $$ >{tmp_path}/pid.part
mv {tmp_path}/pid.part {tmp_path}/pid
exec sleep 30
"""
    replace_program(tmp_path / "gfk", text, monkeypatch)
    monkeypatch.setattr(files, "_PATIENCE", 0.5, raising=False)
    start = time.monotonic()
    interrupt_scrub(tmp_path, tmp_path / "pid", monkeypatch)
    assert time.monotonic() - start < 15
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize("value", [True, False, "0x2", "2", 2.0, None, b"2"])
def test_numbers_that_are_no_integers(file, value):
    for name in ("k", "m", "w", "polynomial", "block_size", "threads", "memory"):
        if value is not None or name in "kmw":
            with pytest.raises(TypeError, match=f"^{name}: an integer"):
                files.encode(file, **{"k": 2, "m": 1, name: value})
    if value is not None:
        with pytest.raises(TypeError, match="^memory: an integer"):
            files.verify(file, memory=value)
    assert os.listdir(file.parent) == ["file"]


def test_integers(file):
    numpy = pytest.importorskip("numpy")
    assert files.encode(file, numpy.int64(2), numpy.uint8(1), w=numpy.int32(16))["k"] == 2


def test_same_as_the_program(file):
    files.encode(file, 2, 1)
    out = subprocess.run([files._PROGRAM, "info", "--json", file], capture_output=True, check=True).stdout
    assert files.json.loads(out) == files.info(file)[0]


@pytest.mark.parametrize("arguments, message", [
    ({"k": -1, "m": 2}, r"^k \(--data\) does not take -1; .*1 or more"), ({"k": 3, "m": 10**30}, r"^m \(--parity\) does not take 10+; "),
    ({"k": 3, "m": 2, "w": 9}, r"^w \(--width\) does not take 9; .*8\|16\|32"),
    ({"k": 3, "m": 2, "block_size": 7}, "^--block-size does not take 7; .*multiple of 64"),
    ({"k": 3, "m": 2, "memory": -1}, "^--memory does not take -1; ")])
def test_messages_name_the_argument(tmp_path, arguments, message):
    (tmp_path / "file").write_bytes(bytes(100))
    with pytest.raises(gfk.InvalidArgument, match=message):
        gfk.files.encode(tmp_path / "file", **arguments)
