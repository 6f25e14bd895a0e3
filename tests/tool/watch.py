# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the tool with the library look_at, the last argument of the programs that use this file."""

import os

import harness
from harness import Folder

harness.parser.add_argument("look_at", help="the library that watches and disturbs")


def environment(**more):
    return dict(os.environ, LD_PRELOAD=harness.options.look_at, **more)


class Watched(Folder):
    def watched(self, *arguments, threads=False, **more):
        """Runs the tool; its calls, or the starts of its threads, and the process."""
        log = self.path + ".log"
        run = self.gfk(*arguments, env=environment(LOOK_LOG=log), **more)
        with open(log, encoding="utf-8") as file:
            calls = [line.rstrip("\n").split(" ", 1) for line in file]
        os.unlink(log)
        return [call for call in calls if (call[0] == "thread") == threads], run
