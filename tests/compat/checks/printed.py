#!/usr/bin/env python3
"""Checks the numbers that a program prints, where it judges nothing itself.

  printed.py below REGEX LIMIT [FILE]             every number that REGEX finds is finite and at most LIMIT
  printed.py agree REGEX REGEX RELATIVE [FILE]    the numbers of both are the same, up to RELATIVE

Each REGEX has one group, the number. FILE is stdout.txt by default. Exit status: 0 right, 1 wrong, 2 the call is wrong.
"""

import math
import pathlib
import re
import sys


def numbers(pattern, path):
    found = [float(text) for text in re.findall(pattern, pathlib.Path(path).read_text(errors="replace"))]
    if not found:
        raise ValueError(f"nothing printed is like {pattern}")
    return found


def below(pattern, limit, path="stdout.txt"):
    for number in numbers(pattern, path):
        if not (math.isfinite(number) and number <= float(limit)):
            raise ValueError(f"{number:g} is above {limit}")


def agree(first, second, relative, path="stdout.txt"):
    ours, theirs = numbers(first, path), numbers(second, path)
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} numbers, not {len(theirs)}")
    for a, b in zip(ours, theirs):
        if not (math.isfinite(a) and abs(a - b) <= float(relative) * abs(b)):
            raise ValueError(f"{a:g}, not {b:g}")


CHECKS = {"below": (below, 2), "agree": (agree, 3)}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in CHECKS or len(sys.argv) - 2 not in (CHECKS[sys.argv[1]][1], CHECKS[sys.argv[1]][1] + 1):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        CHECKS[sys.argv[1]][0](*sys.argv[2:])
    except (OSError, ValueError) as error:
        print(error)
        sys.exit(1)
