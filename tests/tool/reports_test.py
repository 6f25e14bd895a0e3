#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What users get wrong, and what the tool says to whom."""

import base64
import json
import os
import re
import struct
import subprocess

import harness
import xxh3
from harness import BLOCK_HEADER, HEADER, Folder, check, encoded, environment, gfk, shard

harness.parser.add_argument("kill_at", help="the library that kills, here for its slow calls")


def wrong_command_lines():
    with Folder() as folder:
        encoded(folder)
        for arguments in ((), ("none",), ("encode",), ("decode",), ("verify",), ("repair",),
                          ("info",), ("encode", "-k"), ("encode", "-k0", "f"),
                          ("encode", "-k", "-1", "f"), ("encode", "-m0", "f"),
                          ("encode", "-kx", "f"), ("encode", "-w9", "f"),
                          ("encode", "-k250", "-m7", "f"), ("encode", "--matrix", "none", "f"),
                          ("encode", "-w32", "--matrix", "gen_rs", "f"),
                          ("encode", "--polynomial", "0x100", "f"),
                          ("encode", "--block-size", "65", "f"),
                          ("encode", "--block-size", "2G", "f"), ("encode", "--memory", "0", "f"),
                          ("encode", "--memory", "1X", "f"), ("encode", "--backend", "none", "f"),
                          ("encode", "--device", "-1", "f"), ("encode", "--none", "f"),
                          ("decode", "-o", "", "f"), ("decode", "-k3", "f"), ("info", "-f", "f"),
                          ("verify", "-Z", "f"), ("--none",)):
            run = folder.gfk(*arguments, expect=harness.USAGE)
            check(run.err != "" and run.out == b"", f"{arguments}: {run.out} {run.err}")
        folder.gfk("encode", "none", expect=harness.IO)
        folder.gfk("encode", "--backend", "cuda", "-k3", "-m2", "--block-size", "1K", "f",
                   expect=(harness.OK, harness.BACKEND))
        folder.gfk("verify", "--backend", "host", "f")


def errors_name_what_is_wrong():
    for arguments, words in (
            (("encode", "--none", "f"), "unknown option --none;"),
            (("encode", "--none=3", "f"), "unknown option --none;"),
            (("encode", "-xk3", "f"), "unknown option -x;"), (("verify", "f", "-Z"), "unknown option -Z;"),
            (("encode", "-qfZ", "f"), "unknown option -Z;"),
            (("decode", "-k3", "f"), "unknown option -k;"),
            (("encode", "--m=3", "f"), "--m may be several options;"),
            (("encode", "--json=1", "f"), "--json takes no argument;"),
            (("encode", "--force=1", "f"), "--force takes no argument;"),
            (("encode", "-k"), "-k needs an argument;"), (("encode", "-fk"), "-k needs an argument;"),
            (("encode", "--data"), "--data needs an argument;"),
            (("encode", "-kx", "f"), "--data does not take x;"),
            (("encode", "--matrix=none", "f"), "--matrix does not take none;"),
            (("encode", "-o", "", "f"), "--output does not take an empty text;"),
            (("none",), "there is no command none;"), (("help", "none"), "there is no command none;"),
            (("--none",), "there is no option --none;"), (("help", "encode", "decode"), "one command;"),
            (("encode", "-k250", "-m7", "f"), "at most; -w 16 allows"),
            (("encode", "--polynomial", "0x1d", "f"),
             "the polynomial 0x1d lacks its leading term x^8; with this term it is 0x11d\n"),
            (("encode", "-w8", "--polynomial", "0x1100b", "f"), "the polynomial 0x1100b has a term above x^8, "
             "so it does not fit w = 8\n"),
            (("encode", "--polynomial", "0x200", "f"), "has a term above x^8"),
            (("encode", "-w16", "--polynomial", "0x100400007", "f"), "has a term above x^16"),
            (("encode", "-w16", "--polynomial", "0x100b", "f"), "x^16; with this term it is 0x1100b\n"),
            (("encode", "/dev/null"), "/dev/null needs --output"), (("encode", "-"), "standard input needs --output"),
            (("encode", "--to", "a,,b", "f"), "--to does not take a,,b;"),
            (("encode", "--polynomial", "0x100", "f"), "no field with w = 8 and the polynomial 0x100: ")):
        run = gfk(*arguments, expect=harness.USAGE)
        check(words in run.err, f"{arguments}: {run.err}")
        check(".;" not in run.err, run.err)
    with Folder() as folder:
        cache = dict(os.environ, XDG_CACHE_HOME=folder.path)
        run = gfk("advise", expect=harness.IO, env=cache)
        check("run gfk calibrate\n" in run.err and "yet" in run.err and ".;" not in run.err, run.err)
        os.mkdir(folder / "gfk")
        folder.write("gfk/calibration", b"no calibration")
        run = gfk("advise", expect=harness.IO, env=cache)
        check("run gfk calibrate again\n" in run.err and "yet" not in run.err, run.err)


def singular_and_plural():
    said = ""
    with Folder() as folder:
        folder.write("f", b"x")
        for command_line in (("encode", "-k1", "-m1", "f"), ("info", "f"),
                             ("decode", "-f", "f"), ("repair", "f")):
            said += folder.gfk(*command_line).text
        harness.flip(folder / shard("f", 0), 600)
        for name in ("verify", "decode -f", "repair"):
            run = folder.gfk(*name.split(), "f", expect=None)
            said += run.text + run.err
        for index in range(2):
            harness.flip(folder / shard("f", index), 600)
        for name in ("verify", "decode -f", "repair"):
            run = folder.gfk(*name.split(), "f", expect=harness.UNRECOVERABLE)
            said += run.text + run.err
        os.unlink(folder / shard("f", 0))
        folder.write(shard("f", 1), b"x")
        folder.gfk("encode", "-f", "-k3", "-m1", "f")
        folder.lose("f", 0, 1, 2)
        said += folder.gfk("decode", "-f", "f", expect=harness.UNRECOVERABLE).err
        os.unlink(folder / shard("f", 3))
        folder.gfk("encode", "-k1", "-m1", "f")
        os.truncate(folder / shard("f", 0), 512)
        os.truncate(folder / shard("f", 1), 512)
        said += folder.gfk("verify", "f", expect=harness.UNRECOVERABLE).err
    check("1 byte," in said and "1 stripe," in said and "1 is needed" in said, said)
    said = said.replace("1 + 1 shards", "")
    wrong = re.findall(r".*(?<!\.)\b1 (?:bytes|shards|stripes|blocks|threads|subsets|copies|are|were)\b.*|"
                       r".*(?:fewer than|last) 1 [a-z]+s .*", said)
    check(not wrong, wrong)


def json_for_machines():
    with Folder() as folder:
        content = encoded(folder)
        os.unlink(folder / shard("f", 4))
        harness.flip(folder / shard("f", 2), 700)
        run = folder.gfk("verify", "--json", "f", expect=harness.DAMAGED).json()
        check((run["command"], run["exit"], run["bad_shards"], run["recoverable"]) ==
              ("verify", 1, 2, True), run)
        check([s["state"] for s in run["shards"]] == ["ok", "ok", "damaged", "ok", "missing"], run)
        run = folder.gfk("info", "--json", "f").json()
        check((run["k"], run["m"], run["bytes"], run["name"]) == (3, 2, len(content), "f"), run)
        os.utime(folder / "f", ns=(0, 951782400000000005))
        folder.gfk("encode", "-q", "-k3", "-m2", "-o", "g", "f")
        for changed in (folder.gfk("info", "--json", "g").json()["mtime"],
                        folder.gfk("info", "g").text):
            check("2000-02-29T00:00:00.000000005Z" in changed, changed)
        run = folder.gfk("decode", "--json", "-o", "out", "f").json()
        check((run["output"], run["bytes"], run["exit"]) == ("out", len(content), 0), run)
        run = folder.gfk("decode", "--json", "-o", "-", "f")
        check(run.out == content and json.loads(run.err)["exit"] == 0, "beside the file")
        for arguments in (("f/g",), ("none",), ("-f",), ("--in", "none", "f"), ("f", "f/g"), ()):
            run = folder.gfk("decode", "--json", "-o", "-", *arguments, expect=None)
            lines = [json.loads(line) for line in run.err.splitlines()]
            check(run.out in (b"", content) and lines and max(line["exit"] for line in lines) == run.code,
                  f"{arguments}: {run.text} {run.err}")
        outputs = ("-o", "-"), ("-o-",), ("--output", "-"), ("--output=-",), ("--out=-",), ("-fo-",), ("-fo", "-")
        for wrong in (("--wrong",), ("-z",), ("--memory", "x"), ("--backend",), ("--memory",), ("--quiet=1",), ("-qz",)):
            for output in harness.some(outputs, 4):
                for arguments in (("--json", *wrong, *output, "f"), (*wrong, "--json", *output, "f"),
                                  ("--json", "f", *output, *wrong), ("f", *wrong, *output, "--json")):
                    run = folder.gfk("decode", *arguments, expect=harness.USAGE)
                    check(run.out == b"" and json.loads(run.err)["exit"] == 2, f"{arguments}: {run.text} {run.err}")
        run = folder.gfk("repair", "--json", "f").json()
        check(run["repaired"] == 2, run)
        lines = folder.gfk("encode", "--json", "-k3", "-m2", "--block-size", "1K", "f", "none", "f",
                           expect=harness.IO).text.splitlines()
        runs = [json.loads(line) for line in lines]
        check([r["exit"] for r in runs] == [0, 4, 0] and runs[1]["messages"], "a line for each file")
        run = folder.gfk("decode", "--json", "none", expect=harness.UNRECOVERABLE)
        check(run.json()["exit"] == 3 and run.json()["messages"] and run.err == "", run.err)
        run = folder.gfk("encode", "--json", "-k0", "f", expect=harness.USAGE)
        check(run.json()["exit"] == 2, "a wrong command line")
        commands = "encode", "decode", "verify", "repair", "scrub", "info", "methods", "calibrate", "advise"
        for name in harness.some(commands, 4):
            for wrong in (("--frob",), ("-Z",), ("-qZ",), ("--quiet=1",), ("--json=1",), ("-k", "0"), ("-k",),
                          ("--memory=x",), ("--memory", "x"), ("--memory",), ("--backend", "none")):
                for arguments in ((*wrong, "--json", "f"), ("--json", *wrong, "f"), ("f", *wrong, "--js"),
                                  ("f", "--json", *wrong)):
                    run = folder.gfk(name, *arguments, expect=harness.USAGE)
                    line = run.json()
                    check((line["command"], line["exit"], len(line["messages"])) == (name, 2, 1) and run.err == "" and
                          run.out.count(b"\n") == 1, f"{name} {arguments}: {run.text} {run.err}")
            run = folder.gfk(name, "--frob", "--", "--json", expect=harness.USAGE)
            check(run.out == b"" and run.err.startswith("gfk: unknown option --frob"), "no option --json")
        kernels = gfk("methods", "--json").json()["kernels"]
        check(len(kernels) > 60 and all(k["available"] or k["reason"] for k in kernels), "methods")
        strange = b'a"b\\c\x01\xff\xc3\xa4.txt'
        with open(os.path.join(folder.path.encode(), strange), "wb") as file:
            file.write(b"x")
        run = folder.gfk("encode", "--json", "-k1", "-m1", os.fsdecode(strange))
        run = run.json()
        check(run["file"] == 'a"b\\c\x01\ufffd\u00e4.txt', run)
        for key in ("file", "shards"):
            check(base64.b64decode(run[key + "_bytes"]) == strange, run)
        check(folder.gfk("info", "--json", "f").out.count(b"_bytes\":\"") == 0, "only where it is needed")
        run = folder.gfk("info", os.fsdecode(strange))
        check(b"\x01" not in run.out and b'a"b\\c?\xff\xc3\xa4.txt' in run.out, run.out)
        name = os.fsdecode(strange)
        paths = {strange + b".gfk.%03d" % index for index in range(2)}

        def decoded(strings):
            return {base64.b64decode(string) for string in strings}

        found = folder.gfk("info", "--json", name).json()
        for key in ("base", "name"):
            check(base64.b64decode(found[key + "_bytes"]) == strange, found)
        check(decoded(s["path_bytes"] for s in found["shards"]) == paths, found)
        os.link(os.path.join(folder.path, name + ".gfk.000"), os.path.join(folder.path, name + ".gfk.001x"))
        os.unlink(os.path.join(folder.path, name + ".gfk.001"))
        run = folder.gfk("repair", "--json", name).json()
        check(decoded(run["written_bytes"]) == {strange + b".gfk.001"} and len(run["written"]) == 1, run)
        os.unlink(os.path.join(folder.path, name))
        run = folder.gfk("decode", "--json", name).json()
        check(base64.b64decode(run["output_bytes"]) == strange, run)
        run = folder.gfk("decode", "--json", name, expect=harness.EXISTS).json()
        check(len(run["messages"]) == 1 and strange in base64.b64decode(run["messages_bytes"][0]), run)
        strange = os.fsdecode(b"a\nb\xc2\x9b2J\x9b2J\xc2\xa0\xe2\x82\xac")
        folder.write(strange, b"x")
        folder.gfk("encode", "-q", "-k1", "-m1", strange)
        run = folder.gfk("info", strange)
        check("file       a?b??2J?2J\u00a0\u20ac, 1 byte, " in run.text, run.out)


def hints_are_commands():
    """A shell runs a suggested command as gfk means it, whatever the file's name is."""
    length = 512
    for name in ("plain/._-+,:=@%", "my file", "$(touch pwned)", "`touch pwned`", "it's", "'; touch pwned; '", "-o",
                 "-o x", "a\\b", "#", "~", "*", "\u00e4", "a&b|c>pwned"):
        with Folder() as s:
            os.mkdir(s / "plain")
            os.mkdir(s / "bin")
            os.symlink(harness.options.tool, s / "bin/gfk")
            content = harness.rng.randbytes(5000)
            s.write(name, content)
            s.gfk("encode", "-k3", "-m2", "--block-size", length, "--", name)
            os.unlink(s / name)
            path = s / shard(name, 1)
            block = bytearray(s.read(shard(name, 1))[HEADER:HEADER + BLOCK_HEADER + length])
            block[BLOCK_HEADER] ^= 1
            struct.pack_into("<Q", block, 48, xxh3.hash64(bytes(block[BLOCK_HEADER:])))
            struct.pack_into("<Q", block, 56, xxh3.hash64(bytes(block[:56])))
            harness.overwrite(path, HEADER, block)

            def follow(hint):
                run = subprocess.run(["sh", "-c", hint], cwd=s.path, capture_output=True, check=False,
                                     env=dict(os.environ, PATH=s / "bin:" + os.environ["PATH"]))
                check("pwned" not in s.names(), hint)
                return run

            run = s.gfk("verify", "--", name, expect=harness.UNRECOVERABLE)
            hint = re.search("such as: (gfk decode .*)\n", run.err).group(1)
            check(follow(hint).returncode == harness.OK and s.read(name) == content, hint)
            check(name[:5] != "plain" or hint.count("'") == 0, hint)
            run = s.gfk("verify", "--", shard(name, 0), expect=harness.UNRECOVERABLE)
            hint = re.search("(gfk verify .*) reads all shards of ", run.err).group(1)
            run = follow(hint)
            check(run.returncode == harness.UNRECOVERABLE and b"5 of 5 shards" in run.stdout, f"{hint}: {run.stderr}")


def progress_on_a_terminal_alone():
    with Folder() as folder:
        name = "f\x1b[2J\n"
        folder.write(name, harness.rng.randbytes(4 << 20))
        arguments = ("encode", "-f", "-k4", "-m4", "--block-size", "4K", "--memory", "2M", name)
        code, seen = harness.on_a_terminal(*arguments, cwd=folder.path,
                                           env=environment(SLOW_CALL="write"))
        check(code == harness.OK, "encode on a terminal")
        check(b" %" in seen and b"MB/s" in seen and b"left" in seen, seen)
        check(b"\x1b[Kf?[2J? " in seen and b"\x1b[2J" not in seen, "a name that gives orders")
        check(seen.endswith(b"\r\x1b[K"), "the line is wiped")
        check(folder.gfk(*arguments).err == "", "quiet in a pipe")
        run = folder.gfk(*arguments, "-q")
        check(run.out == b"" and run.err == "", "--quiet")


harness.main(wrong_command_lines, errors_name_what_is_wrong, singular_and_plural,
             json_for_machines, hints_are_commands, progress_on_a_terminal_alone)
