#!/usr/bin/env python3
"""Checks results of Rodinia's programs by small computations of our own, where the suite has no usable reference.

  rodinia_results.py bfs GRAPH RESULT
  rodinia_results.py hotspot SIDE STEPS TEMPERATURE POWER RESULT    (the OpenMP version's time step is another one)
  rodinia_results.py gaussian MATRIX OUTPUT                         the solution is put into the equations
  rodinia_results.py kmeans POINTS OUTPUT                           the centres are the means of their points
  rodinia_results.py nn RECORDS COUNT LATITUDE LONGITUDE OUTPUT
  rodinia_results.py dwt53 IMAGE WIDTH RESULT                       one level of the reversible 5/3 wavelet, per colour
  rodinia_results.py finite RESULT                                  there are numbers, and all are finite

Exit status: 0 right, 1 wrong (the last line says where), 2 the call is wrong.
"""

import collections
import math
import pathlib
import re
import sys


class Wrong(Exception):
    pass


def numbers(path):
    return [float(word) for word in pathlib.Path(path).read_text().split()]


def bfs(graph, result):
    values = iter(int(word) for word in pathlib.Path(graph).read_text().split())
    nodes = [(next(values), next(values)) for _ in range(next(values))]
    source = next(values)
    edges = [(next(values), next(values))[0] for _ in range(next(values))]
    cost = [-1] * len(nodes)
    cost[source] = 0
    waiting = collections.deque([source])
    while waiting:
        node = waiting.popleft()
        first, count = nodes[node]
        for target in edges[first:first + count]:
            if cost[target] < 0:
                cost[target] = cost[node] + 1
                waiting.append(target)
    found = re.findall(r"(\d+)\) cost:(-?\d+)", pathlib.Path(result).read_text())
    if [int(value) for _, value in found] != cost:
        raise Wrong("the costs differ")


def hotspot(side, steps, temperature, power, result):
    side = int(side)
    heat, watts = numbers(temperature), numbers(power)
    thickness, chip, ambient = 0.0005, 0.016, 80.0
    edge = chip / side
    capacity = 0.5 * 1.75e6 * thickness * edge * edge
    sideways = edge / (2.0 * 100 * thickness * edge)
    upwards = thickness / (100 * edge * edge)
    step = 0.001 / (3.0e6 / (0.5 * thickness * 1.75e6))
    for _ in range(int(steps)):
        new = []
        for y in range(side):
            for x in range(side):
                here = heat[y * side + x]
                north, south = heat[max(y - 1, 0) * side + x], heat[min(y + 1, side - 1) * side + x]
                west, east = heat[y * side + max(x - 1, 0)], heat[y * side + min(x + 1, side - 1)]
                new.append(here + step / capacity * (watts[y * side + x] + (south + north - 2 * here) / sideways
                                                     + (east + west - 2 * here) / sideways + (ambient - here) / upwards))
        heat = new
    found = [float(line.split()[1]) for line in pathlib.Path(result).read_text().splitlines() if line.strip()]
    if len(found) != len(heat):
        raise Wrong(f"{len(found)} temperatures, not {len(heat)}")
    worst = max(range(len(heat)), key=lambda at: abs(found[at] - heat[at]))
    if not abs(found[worst] - heat[worst]) <= 2e-5 * abs(heat[worst]):
        raise Wrong(f"cell {worst}: {found[worst]}, not {heat[worst]:.3f}")


def gaussian(matrix, output):
    values = numbers(matrix)
    size = int(values[0])
    rows = [values[1 + row * size:1 + (row + 1) * size] for row in range(size)]
    right = values[1 + size * size:1 + size * size + size]
    text = pathlib.Path(output).read_text()
    if "final solution is:" not in text:
        raise Wrong("no solution in the output")
    found = re.findall(r"-?\d+\.\d+", text.split("final solution is:")[1])[:size]
    solution = [float(word) for word in found]
    if len(solution) != size:
        raise Wrong(f"{len(solution)} values, not {size}")
    for row, wanted in zip(rows, right):
        scale = sum(abs(a * x) for a, x in zip(row, solution)) + abs(wanted) + size * 0.01 * max(map(abs, row))
        if not abs(sum(a * x for a, x in zip(row, solution)) - wanted) <= 0.01 * scale:
            raise Wrong("the solution does not satisfy the equations")


def kmeans(points, output):
    rows = [[float(word) for word in line.split()[1:]] for line in pathlib.Path(points).read_text().splitlines() if line]
    found = re.findall(r"^(\d+): ([-\d. ]+)$", pathlib.Path(output).read_text(), re.MULTILINE)
    centres = [[float(word) for word in words.split()] for _, words in found]
    if not centres or any(len(centre) != len(rows[0]) for centre in centres):
        raise Wrong("no centres in the output")
    own = collections.defaultdict(list)
    for row in rows:
        own[min(range(len(centres)), key=lambda at: math.dist(row, centres[at]))].append(row)
    for place, centre in enumerate(centres):
        mean = [sum(column) / len(own[place]) for column in zip(*own[place])]
        # The centres are printed with two digits behind the point.
        if not mean or any(not abs(a - b) <= 0.02 + 1e-3 * abs(b) for a, b in zip(centre, mean)):
            raise Wrong(f"centre {place} is not the mean of its points")


def nn(records, count, latitude, longitude, output):
    lines = pathlib.Path(records).read_text().splitlines()
    distances = sorted(math.hypot(float(line[28:33]) - float(latitude), float(line[33:38]) - float(longitude))
                       for line in lines if len(line) >= 38)
    found = [float(word) for word in re.findall(r"Distance=([\d.naif]+)", pathlib.Path(output).read_text())]
    if len(found) != int(count):
        raise Wrong(f"{len(found)} neighbours, not {count}")
    for a, b in zip(found, distances):
        if not abs(a - b) <= 1e-3:
            raise Wrong(f"a neighbour at {a}, not {b:.6f}")


def quotient(value, divisor):
    """As C divides: towards zero."""
    return value // divisor if value >= 0 else -(-value // divisor)


def lifted(line):
    """The 5/3 wavelet of a line of even length, with C's division: the low half, then the high half."""
    size = len(line)
    high = [line[i] - quotient(line[i - 1] + line[i + 1 if i + 1 < size else i - 1], 2) for i in range(1, size, 2)]
    low = [line[i] + quotient(high[max(i // 2 - 1, 0)] + high[i // 2] + 2, 4) for i in range(0, size, 2)]
    return low + high


def dwt53(image, width, result):
    """RESULT holds the little-endian 16-bit or 32-bit integers, or bytes, that the program writes for one colour."""
    width = int(width)
    pixels = pathlib.Path(image).read_bytes()
    rows = [[pixels[3 * (y * width + x)] - 128 for x in range(width)] for y in range(width)]
    columns = [lifted(list(column)) for column in zip(*rows)]
    rows = [lifted(list(row)) for row in zip(*columns)]
    wanted = [min(max(value + 128, 0), 255) for row in rows for value in row]
    data = pathlib.Path(result).read_bytes()
    if len(data) != len(wanted):
        raise Wrong(f"{len(data)} bytes, not {len(wanted)}")
    wrong = sum(1 for a, b in zip(data, wanted) if a != b)
    if wrong:
        raise Wrong(f"{wrong} of {len(wanted)} coefficients differ")


def finite(result):
    words = re.findall(r"[-+]?(?:\d+\.\d+(?:[eE][-+]?\d+)?|nan|inf)", pathlib.Path(result).read_text(), re.IGNORECASE)
    if not words:
        raise Wrong("no numbers in the result")
    if not all(math.isfinite(float(word)) for word in words):
        raise Wrong("the result holds numbers that are not finite")


CHECKS = {check.__name__: check for check in (bfs, hotspot, gaussian, kmeans, nn, dwt53, finite)}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in CHECKS:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        CHECKS[sys.argv[1]](*sys.argv[2:])
    except (Wrong, OSError, ValueError) as error:
        print(error)
        sys.exit(1)
