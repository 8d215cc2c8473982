"""The page docs/compatibility.md: prose, and a part for each suite that a run renews."""

import collections
import re

from outcome import BUILT, PASS

HEAD = """# Compatibility

Programs that others wrote for CUDA, compiled unmodified with `nunacc` and run on the CPU of a development machine. A program
passes when its own check says so; where it has none, its results are compared with the suite's version for the CPU or
with a small computation of ours ([tests/compat/checks](../tests/compat/checks)). Sizes are reduced by arguments and `-D` so
that each ends within seconds. How to repeat it: [tests/compat/README.md](../tests/compat/README.md).

The sources are not part of Nuna; get them from the addresses given below. On several devices and ranks: [compatibility on devices](compatibility-devices.md).
"""


def begin_mark(name):
    return f"<!-- suite {name} -->"


def end_mark(name):
    return f"<!-- end {name} -->"


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def part(suite, outcomes):
    """The lines of one suite."""
    counts = collections.Counter(outcome.status for outcome in outcomes)
    good = counts[PASS] + counts[BUILT]
    lines = [begin_mark(suite.name), f"## {suite.title}", "", f"From {suite.source}. {suite.about}".strip(), ""]
    others = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()) if status not in (PASS, BUILT))
    lines += [f"**{good} of {len(outcomes)} pass**" + (f" ({100 * good / len(outcomes):.0f} %" if outcomes else " (")
              + (f"; {others}" if others else "") + ").", ""]
    lines += ["| program | result | why |", "|---|---|---|"]
    notes = {program.name: program.note for program in suite.programs}
    for outcome in outcomes:
        why = "; ".join(text for text in (outcome.why, notes.get(outcome.name, "")) if text)
        lines.append(f"| {outcome.name} | {outcome.status} | {cell(why)} |")
    return "\n".join(lines + [end_mark(suite.name), ""])


def renewed(old, suites, outcomes):
    """The page with the parts of these suites replaced, and the parts of others as they were."""
    kept = {}
    for match in re.finditer(r"<!-- suite (\S+) -->.*?<!-- end \1 -->\n", old, re.DOTALL):
        kept[match[1]] = match[0]
    for suite in suites:
        kept[suite.name] = part(suite, [outcome for outcome in outcomes if outcome.suite == suite.name])
    return HEAD + "\n" + "\n".join(kept[name] for name in sorted(kept))
