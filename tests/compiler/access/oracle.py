#!/usr/bin/env python3
"""Compares what kernels wrote when they ran with what their models say.

    oracle.py models.json run.txt

Writes that the model calls exact are those that happened; others may happen. The model is evaluated thread by thread.
"""

import itertools
import json
import sys

EXTRA = range(-3, 72)  # what variables beside blocks and threads are tried with


DERIVED = {
    "shifted": lambda left, right: left << right,
    "quotient": lambda left, right: left // right,
    "least": min,
    "most": max,
    "lowest bit": lambda left, _: left & -left,
    "is power of two": lambda left, _: int(left > 0 and left & (left - 1) == 0),
}


class Launch:
    def __init__(self, line):
        words = line.split()
        self.name = words[1]
        self.sizes = [int(word) for word in words[2:8]]
        self.arguments = [bytes.fromhex(word) for word in words[8:]]
        self.wrote = set()

    def field(self, where, length, is_signed):
        part = self.arguments[where["argument"]][where["offset"] : where["offset"] + length]
        return int.from_bytes(part, "little", signed=is_signed)

    def parameters(self, model):
        numbers = list(self.sizes)
        for p in model["parameters"][6:]:
            if p["kind"] == "derived":
                left, right = (folded(p[side], numbers, {})[0] for side in ("left", "right"))
                numbers.append(DERIVED[p["operation"]](left, right))
            else:
                numbers.append(self.field(p, p["bytes"], p["is_signed"]))
        return numbers


def folded(polynomial, parameters, known):
    """(number, [(factor, variable)]) with what is known put in."""
    number, rest = 0, []
    for term in polynomial:
        factor = term["factor"]
        for index in term["parameters"]:
            factor *= parameters[index]
        if term["variable"] < 0:
            number += factor
        elif term["variable"] in known:
            number += factor * known[term["variable"]]
        else:
            rest.append((factor, term["variable"]))
    return number, rest


def holds(value, constraint):
    return value == 0 if constraint["is_equality"] else value >= 0


def extras(access, parameters, known, index):
    """All values of the variables from `index` on for which the domain holds."""
    domain = [(folded(c["left"], parameters, known), c) for c in access["domain"]]
    if not all(holds(number, c) for (number, rest), c in domain if not rest):
        return
    if index == access["extra"]:
        yield known
        return
    for value in EXTRA:
        yield from extras(access, parameters, {**known, 6 + index: value}, index + 1)


def bytes_of(access, launch, parameters, base):
    block, grid = launch.sizes[:3], launch.sizes[3:]
    for place in itertools.product(*(range(n) for n in grid + block)):
        known = dict(enumerate(place))
        for all_known in extras(access, parameters, known, 0):
            first, rest = folded(access["first_byte"], parameters, all_known)
            assert not rest
            yield from range(base + first, base + first + access["bytes"], 4)


def compare(launch, model):
    """What is wrong, or nothing."""
    exact, perhaps = set(), set()
    parameters = launch.parameters(model)
    for access in model["accesses"]:
        pointer = model["pointers"][access["pointer"]]
        if access["kind"] != "write" or pointer["variable"]:
            continue
        base = launch.field(pointer, 8, False)
        words = set(bytes_of(access, launch, parameters, base))
        (exact if access["exact"] else perhaps).update(words)
    missing = launch.wrote - exact - perhaps
    too_many = exact - launch.wrote
    if missing or too_many:
        return f"{len(missing)} words were written that the model does not know, {len(too_many)} not that it knows"
    return "" if exact or perhaps or not launch.wrote else "no writes"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        models = {model["name"]: model for model in json.load(file)}
    launches = []
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            if line.startswith("kernel "):
                launches.append(Launch(line))
            elif line.startswith("wrote "):
                launches[-1].wrote.add(int(line.split()[1]))
    failed = 0
    for launch in launches:
        mangled = f"{len(launch.name)}{launch.name}"
        model = next(m for m in models.values() if m["name"].startswith("_Z" + mangled))
        if wrong := compare(launch, model):
            print(f"FAILED: {launch.name}{launch.sizes}: {wrong}")
            failed += 1
    if not launches:
        print("FAILED: nothing ran")
    return failed != 0 or not launches


if __name__ == "__main__":
    sys.exit(main())
