#!/usr/bin/env python3
"""Compares the numbers of two text files.

  compare.py OURS THEIRS [--relative R] [--absolute A] [--after REGEX] [--skip REGEX] [--only REGEX]
             [--last N] [--exact]

Two numbers agree when they differ by at most A + R |theirs|. --after: only what follows the last line that contains the
expression; --skip: without the lines that contain it; --only: only those; --last: the last N of what is left; --exact: the lines must be the same. Exit status: 0 they agree, 1
they do not (the last line says where), 2 the call is wrong.
"""

import argparse
import math
import pathlib
import re
import sys

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)\b", re.IGNORECASE)


def lines_of(path, options):
    lines = pathlib.Path(path).read_text(errors="replace").splitlines()
    if options.after:
        starts = [number for number, line in enumerate(lines) if re.search(options.after, line)]
        if not starts:
            raise ValueError(f"{path}: no line with '{options.after}'")
        lines = lines[starts[-1] + 1:]
    lines = [line for line in lines if not (options.skip and re.search(options.skip, line))]
    return [line for line in lines if re.search(options.only, line)][-options.last:]


def differing(ours, theirs, relative, absolute):
    """The text of the worst disagreement, or nothing."""
    if not theirs:
        return "no numbers to compare with"
    if len(ours) != len(theirs):
        return f"{len(ours)} numbers, not {len(theirs)}"
    wrong = [place for place, (a, b) in enumerate(zip(ours, theirs))
             if not (a == b or math.isfinite(a) and abs(a - b) <= absolute + relative * abs(b))]
    if not wrong:
        return ""
    place = max(wrong, key=lambda at: abs(ours[at] - theirs[at]) if math.isfinite(ours[at]) else math.inf)
    return f"{len(wrong)} of {len(theirs)} numbers differ; number {place}: {ours[place]:g}, not {theirs[place]:g}"


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--relative", type=float, default=1e-4)
    parser.add_argument("--absolute", type=float, default=1e-6)
    parser.add_argument("--after", default="")
    parser.add_argument("--skip", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--last", type=int, default=0)
    parser.add_argument("--exact", action="store_true")
    options = parser.parse_args(argv)
    try:
        ours, theirs = (lines_of(path, options) for path in (options.ours, options.theirs))
    except (OSError, ValueError) as error:
        print(error)
        return 1
    if options.exact:
        text = "" if theirs and ours == theirs else "the lines differ"
    else:
        numbers = [[float(text) for line in lines for text in NUMBER.findall(line)] for lines in (ours, theirs)]
        text = differing(*numbers, options.relative, options.absolute)
    if text:
        print(text)
    return 1 if text else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
