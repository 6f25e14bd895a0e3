# SPDX-License-Identifier: BSD-3-Clause
"""How pickle and copy make an object of the extension module again: from its arguments."""

import copyreg

from . import _core


def made(kind, base, arguments):
    """An object of a class, made by the constructor of the base that the extension module has."""
    thing = kind.__new__(kind)
    base.__init__(thing, **arguments)
    return thing


def reduced(thing, base, arguments):
    """What __reduce__ returns. A class that is derived from the base may have attributes of its own."""
    return made, (type(thing), base, arguments), thing.__getstate__()


def called(owner, name, positional, keywords):
    """What a method of an object or of a class makes."""
    return getattr(owner, name)(*positional, **keywords)


def _method(method):
    return getattr, (method.__self__, method.__name__)


def _function(function):
    return function.__qualname__


# nanobind's methods and functions: a pool of processes takes code.encode and gfk.rank.
copyreg.pickle(type(_core.Field().multiply), _method)
copyreg.pickle(type(_core.rank), _function)
