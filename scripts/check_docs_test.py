#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of check_docs.words: every forbidden word, beginning and width is found, and nothing else."""

import unittest

import check_docs


def found(text, path="a.c"):
    return [*check_docs.words(path, text)]


class Words(unittest.TestCase):
    def test_unclear(self):
        for word in ("so many", "So many", "beside", "behind", "but for", "of before"):
            split = word.replace(" ", "\n * ")
            for text in (f"/* Takes {word} bytes. */", f"int a; // {word}", f"/* Takes {split} bytes. */"):
                self.assertEqual(len(found(text)), 1, text)

    def test_beginnings(self):
        for word in ("What", "Where", "Of", "As", "That"):
            for text in (f"/* {word} a call does. */", f"/*\n * {word} a */", f"// {word} a",
                         f"int a; /* {word} */", f"/* run.c: {word.lower()} a call does. */"):
                self.assertEqual(len(found(text)), 1, text)

    def test_width(self):
        line = "int " + "a" * 96 + ";"
        self.assertEqual(len(found(line)), 1)
        self.assertEqual(found(line[1:]), [])
        self.assertEqual(found("ROW(" + line, "a.def"), [])
        self.assertEqual(len(found("ROW(" + line, "a.h")), 1)
        self.assertEqual(len(found("/* " + line, "a.def")), 1)

    def test_place(self):
        self.assertTrue(found("\n\n/* Of it. */")[0].startswith("a.c:3 "))

    def test_clean(self):
        for text in ('"so many" /* Ascending numbers. */', "/* Asks what is behindhand, and where. */",
                     "'\"' /* A */", "int of; /* of a call */", '"/* As */"'):
            self.assertEqual(found(text), [], text)


if __name__ == "__main__":
    unittest.main()
