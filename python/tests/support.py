# SPDX-License-Identifier: BSD-3-Clause
"""Functions that several tests use."""

import gc
import resource
import threading


def in_threads(work, arguments):
    """work(argument) for all arguments at once, each in a thread of its own; an exception in one is an error."""
    start, wrong = threading.Barrier(len(arguments)), []

    def run(argument):
        start.wait()
        try:
            work(argument)
        except BaseException as error:  # a thread's exception is nobody else's
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def resident():
    """Bytes of memory that this process holds."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
