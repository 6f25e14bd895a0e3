#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What computes: the CPU, a GPU where there is one, and what the machine is known to do."""

import os
import re

import harness
from harness import Folder, check, gfk, shard

harness.parser.add_argument("--fake", action="store_true", help="the tool has simulated devices")

CODES = (("-k10", "-m4"), ("-k3", "-m2", "-w16"), ("-k4", "-m2", "-w32", "--block-size", "64K"),
         ("-k5", "-m3", "--polynomial", "0x187", "--block-size", "4160"))


def every_backend_makes_the_same_bytes():
    """What one encodes the other verifies, decodes and repairs."""
    there = ["host", "auto"]
    with Folder() as folder:
        folder.write("f", b"x")
        run = folder.gfk("encode", "-k1", "-m1", "--backend", "cuda", "f",
                         expect=(harness.OK, harness.BACKEND))
        if run.code == harness.OK:
            there.append("cuda")
        else:
            check(not os.path.exists(folder / shard("f", 0)) and "GPU" in run.err, run.err)
            folder.gfk("encode", "--device", "0", "-k1", "-m1", "f", expect=harness.BACKEND)
    print("backends:", *there)
    check("cuda" in there or not harness.options.fake, "the simulated devices are there")
    least = 1 << 20 if harness.options.reduced else 5 << 20
    for code in CODES[:1] if harness.options.reduced else CODES:
        n = sum(int(re.sub(r"\D", "", c)) for c in code[:2])
        m = int(code[1][2:])
        for maker in there:
            for user in there:
                with Folder() as folder:
                    content = harness.rng.randbytes(harness.rng.randrange(least, least + (1 << 20)))
                    folder.write("f", content)
                    run = folder.gfk("encode", "--json", "--backend", maker, *code, "f")
                    engine = run.json()["engine"]
                    check((engine == "gpu") == (maker == "cuda") or maker == "auto", engine)
                    folder.lose("f", *harness.rng.sample(range(n), m))
                    os.unlink(folder / "f")
                    run = folder.gfk("decode", "--json", "--backend", user, "f")
                    check(folder.read("f") == content, f"{maker} {user} {code}")
                    folder.gfk("repair", "--backend", user, "f")
                    folder.gfk("verify", "--backend", maker, "f")


def any_number_of_threads():
    """What one number encodes another one restores; calibrate measures as many threads."""
    with Folder() as folder:
        content = harness.rng.randbytes(3 << 20)
        folder.write("f", content)
        for threads, others in ((1, 4), (2, 1), (5, 2)):
            folder.gfk("encode", "-f", "-q", "--threads", threads, "--backend", "host", "f")
            folder.lose("f", *harness.rng.sample(range(14), 4))
            folder.gfk("decode", "-f", "-o", "g", "--threads", others, "f")
            check(folder.read("g") == content, threads)
        for text in ("0", "4097", "x", "-1", ""):
            folder.gfk("encode", "-f", f"--threads={text}", "f", expect=harness.USAGE)
        if not harness.options.reduced:  # seconds of measuring, many times as long under a sanitizer
            run = folder.gfk("calibrate", "--json", "--threads", 1, env=dict(os.environ, XDG_CACHE_HOME=str(folder.path)))
            check(run.json()["threads"] == 1, run.json())


def little_memory():
    with Folder() as folder:
        content = harness.rng.randbytes(3 << 20)
        folder.write("f", content)
        for backend in ("auto", "host", "cuda"):
            run = folder.gfk("encode", "-f", "--backend", backend, "--memory", "1M", "--block-size",
                             "4K", "f", expect=(harness.OK, harness.BACKEND))
            if run.code == harness.OK:
                folder.gfk("decode", "-f", "-o", "g", "--backend", backend, "f")
                check(folder.read("g") == content, backend)


def gpus_that_fail():
    """Whatever fails when, the bytes are right; and who works with the CPU alone says so."""
    if not harness.options.fake:
        raise harness.Skipped("a real GPU does not fail when it is told to")
    out_of_memory = "7"  # as gfk/status.h numbers it
    with Folder() as folder:
        content = harness.rng.randbytes((640 if harness.options.reduced else 3072) << 10)
        folder.write("f", content)
        cuda = ("--backend", "cuda", "--json")
        failed = 0
        for after in (*harness.some(range(1, 40), 6), 60, 100, 200, 400, 10000):
            for more in ({"FAKE_DIES": "1"}, {}, {"FAKE_STATUS": out_of_memory}):
                fake = dict(os.environ, FAKE_FAILS_AFTER=str(after), **more)
                run = folder.gfk("encode", "-f", "-k3", "-m2", "--block-size", "64K", *cuda, "f",
                                 env=fake, expect=(harness.OK, harness.BACKEND)).json()
                if run["exit"] == harness.BACKEND:
                    continue
                messages = " ".join(run["messages"])
                failed += "the CPU goes on" in messages
                check(run["engine"] == "gpu" or "the CPU goes on" in messages, run)
                folder.lose("f", 0, 2)
                folder.gfk("decode", "-f", "-o", "g", *cuda, "f", env=fake,
                           expect=(harness.OK, harness.BACKEND))
                folder.gfk("decode", "-f", "-o", "h", "--backend", "host", "f")
                check(folder.read("h") == content, f"{after} {more}")
        check(failed > (10 if harness.options.reduced else 20), f"{failed} runs saw a device fail")


@harness.slow
def calibration():
    with Folder() as folder:
        cache = dict(os.environ, XDG_CACHE_HOME=folder / "cache")
        run = gfk("advise", env=cache, expect=harness.IO)
        check("gfk calibrate" in run.err, run.err)
        size = 16 if harness.options.fake else 64  # MiB
        code = ("-k4", "-m2", "-w16", f"{size}M")
        made = gfk("calibrate", "--json", *code, env=cache).json()
        file = os.path.join(folder / "cache", "gfk", "calibration")
        check(made["calibration"] == file and os.path.getsize(file) > 0, made)
        check(made["bytes"] == size << 20 and made["threads"] >= 1 and made["processor"], made)
        check([a["memory"] for a in made["advice"]] == ["pageable", "pinned"], made)
        for a in made["advice"]:
            times = {p: a[p] for p in ("cpu", "gpu", "both") if p in a}
            check(times["cpu"] > 0 and a["path"] == min(times, key=times.get), a)
            check(("gpu" in times) == bool(made["gpus"]), a)
        told = gfk("advise", "--json", *code, env=cache).json()
        for a, b in zip(made["advice"], told["advice"]):  # the file has fewer digits
            check(abs(a["cpu"] - b["cpu"]) < 1e-3 * a["cpu"] and told["calibration"] == file, told)
        longer = gfk("advise", "--json", *code[:3], f"{10 * size}M", env=cache).json()
        check(longer["advice"][0]["cpu"] > 5 * told["advice"][0]["cpu"], longer)
        check("GB/s of data" in gfk("advise", env=cache).text, "for a person")
        content = harness.rng.randbytes(100000)
        folder.write("f", content)
        with open(file, "rb") as stream:
            good = bytearray(stream.read())
        for text in (bytes(good), bytes(good[:-9]), b"", b"\xff" * 5000):  # damaged ones are as none
            with open(file, "wb") as stream:
                stream.write(text)
            folder.gfk("encode", "-f", "-k3", "-m2", "f", env=cache)
            folder.gfk("decode", "-f", "-o", "g", "f", env=cache)
            check(folder.read("g") == content, len(text))
        gfk("advise", env=cache, expect=harness.IO)


@harness.slow
def where_the_calibration_is():
    with Folder() as folder:
        gone = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        gfk("advise", env=gone, expect=harness.IO)
        run = gfk("advise", env=dict(gone, HOME=folder.path), expect=harness.IO)
        check(folder / ".cache/gfk/calibration" in run.err, run.err)
        run = gfk("advise", env=dict(gone, HOME=folder.path, XDG_CACHE_HOME="not/absolute"),
                  expect=harness.IO)
        check(folder / ".cache/gfk/calibration" in run.err, run.err)
        folder.write("file", b"")
        gfk("calibrate", env=dict(gone, XDG_CACHE_HOME=folder / "file"), expect=harness.IO)
        for wrong in (("advise", "0"), ("advise", "1", "2"), ("advise", "1X"), ("advise", "-k0"),
                      ("advise", "--device", "0"), ("calibrate", "-w7")):
            gfk(*wrong, env=gone, expect=harness.USAGE)


harness.main(every_backend_makes_the_same_bytes, any_number_of_threads, little_memory, gpus_that_fail, calibration,
             where_the_calibration_is)
