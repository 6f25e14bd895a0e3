# SPDX-License-Identifier: BSD-3-Clause
"""stubs.py FROM TO: makes nanobind's stubs useful to type checkers.

What a call returns is an array like its arguments, or an integer: nanobind writes `object`, which has no
members; Any has all."""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
text = re.sub(r"\) -> object:", ") -> typing.Any:", text)
docstring, rest = text.split('"""\n', 1)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    file.write(f'{docstring}"""\n\nimport typing\n\n__version__: str\n{rest}')
