#!/usr/bin/env python3
"""Counts the bytes that programs of apps/cuda move between memories over several devices, beside what they have to move.

  tests/perf/cuda/traffic.py --nunacc build/release/bin/nunacc [--devices 2,4,8] [--write FILE]

The counts are Nuna's own (NUNA_STATS): bytes from the host to devices, and between devices, in whole runs. The theory is below,
program by program; the last column is what a tracker with one owner for each byte (paper 004) would move, which forgets that a part
holds what it has read. Of uploads.cu it counts what goes straight to devices, and what launches move afterwards, for uploads that are
placed and for those that land on the host. Exit status: 0; 1 where a count is not the theory's; 2 the call is wrong.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

APPS = pathlib.Path(__file__).resolve().parents[3] / "apps" / "cuda"
UPLOADS = pathlib.Path(__file__).resolve().parent / "uploads.cu"
FLOAT, FLOAT4, ROWS_OF_HALO, STEPS_OF_A_LAUNCH = 4, 16, 2, 2


def hotspot(side, steps, parts):
    """Rows of temperature and power, each part's with a halo on both sides; then the halos of the temperature only."""
    launches = steps // STEPS_OF_A_LAUNCH
    halos = (parts - 1) * 2 * ROWS_OF_HALO * side * FLOAT
    arrays = 2 * side * side * FLOAT
    return arrays + 2 * halos, (launches - 1) * halos, arrays + 2 * launches * halos


def matmul(side, parts):
    """Rows of A once, B for each part."""
    matrix = side * side * FLOAT
    return (1 + parts) * matrix, 0, (1 + parts) * matrix


def nbody(bodies, steps, parts):
    """All bodies for each part; later those of the other parts. Velocities are zeros that are made where they are used."""
    array = bodies * FLOAT4
    return parts * array, (steps - 1) * (parts - 1) * array, (parts + (steps - 1) * (parts - 1)) * array


RUNS = [("hotspot", hotspot, size) for size in [(512, 20), (1024, 20), (2048, 20)]]
RUNS += [("matmul", matmul, size) for size in [(256,), (512,), (1024,)]]
RUNS += [("nbody", nbody, size) for size in [(4096, 4), (8192, 4), (12288, 4)]]


ROUNDS, ROWS, ROW, PITCH, HALO = 10, 500, 4000, 4096, 16 * 4


def uploaded(pattern, way, size, parts):
    """Bytes that uploads give to devices, and that launches move then. Without placement the latter is, in each round, what parts read."""
    given = {"whole": parts * size, "pitched": size}.get(pattern, size + 2 * (parts - 1) * HALO)
    if way == "touch":
        return 0, ROUNDS * given
    # Of rows that nearly touch what lies between them is brought, too, the first time.
    return (ROUNDS - 1) * given, ROWS * PITCH - parts * (PITCH - ROW) if pattern == "pitched" else given


UPLOADS_RUN = [(pattern, way, size) for pattern, size in [("rows", 4 << 20), ("whole", 16 << 10), ("pitched", ROWS * ROW)]
               for way in ("copy", "touch")]


def counted(program, arguments, devices):
    environment = {**os.environ, "NUNA_DEVICES": str(devices), "NUNA_STATS": "1", "NUNA_THREADS": "1"}
    run = subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300)
    lines = [line for line in run.stderr.splitlines() if line.startswith("nuna: stats ")]
    if run.returncode != 0 or "PASS" not in run.stdout or not lines:
        raise RuntimeError(f"{program.name}: exit {run.returncode}: {run.stdout}{run.stderr}")
    stats = json.loads(lines[-1][len("nuna: stats "):])
    routes = stats["bytes_by_route"]
    return routes["host_to_device"], routes["device_to_device"], stats["updates"]["bytes"]


def page(rows, uploads):
    lines = ["# Bytes that CUDA programs move", "",
             "Made by `tests/perf/cuda/traffic.py --write`; do not edit. Whole runs of [apps/cuda](../apps/cuda/README.md) over host devices with memories of",
             "their own: bytes from the host to devices, and between devices, as Nuna counted them; what the programs have to move (the script says",
             "why); and what a tracker with one owner for each byte (paper 004) would move in all.", "",
             "| program | devices | host to devices | theory | between devices | theory | one owner, all |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {' '.join(map(str, row[0]))} | {row[1]} | " + " | ".join(f"{value:,}" for value in row[2:]) + " |" for row in rows]
    lines += ["", "## Uploads", "",
              f"Of `tests/perf/cuda/uploads.cu`, which gives the device new input before each of {ROUNDS} launches: bytes that cudaMemcpy or cudaMemcpy2D gave",
              "straight to the devices whose launches had needed the old ones ([decision 0031](decisions/0031-updates-of-copies.md)), and bytes that launches moved.",
              "`touch` is the unplaced way: the host writes managed memory itself, and each launch moves what its parts read.", "",
              "| pattern | way | devices | straight to devices | theory | moved by launches | theory |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {pattern} {size} | {way} | {devices} | " + " | ".join(f"{value:,}" for value in counts) + " |"
              for (pattern, way, size), devices, *counts in uploads]
    return "\n".join(lines) + "\n"


def main(argv):
    os.environ.setdefault("NUNACC_PTX", "off")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nunacc", default="nunacc")
    parser.add_argument("--devices", default="2,4,8", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args(argv)
    rows, uploads, wrong = [], [], 0
    with tempfile.TemporaryDirectory(prefix="nuna-traffic-") as folder:
        for name in sorted({run[0] for run in RUNS}):
            subprocess.run([options.nunacc, "-O3", "-std=c++17", APPS / f"{name}.cu", "-o", pathlib.Path(folder, name)], check=True)
        for name, theory, size in RUNS:
            for devices in options.devices:
                found = counted(pathlib.Path(folder, name), size, devices)
                to_devices, between, one_owner = theory(*size, devices)
                rows.append(((name, *size), devices, found[0], to_devices, found[1], between, one_owner))
                good = found[:2] == (to_devices, between) and sum(found[:2]) <= one_owner
                wrong += not good
                print(f"{name:8} {' '.join(map(str, size)):10} {devices:2} devices: {found[0]:12,} {found[1]:12,}"
                      f"   theory {to_devices:12,} {between:12,}   one owner {one_owner:12,}   {'as it must be' if good else 'WRONG'}")
        program = pathlib.Path(folder, "uploads")
        subprocess.run([options.nunacc, "-O3", "-std=c++17", UPLOADS, "-o", program], check=True)
        for run in UPLOADS_RUN:
            for devices in options.devices:
                placed, moved = uploaded(*run, devices)
                to_devices, between, straight = counted(program, (*run, ROUNDS), devices)
                uploads.append((run, devices, straight, placed, to_devices + between - straight, moved))
                good = uploads[-1][2::2] == uploads[-1][3::2]
                wrong += not good
                print(f"uploads {' '.join(map(str, run)):20} {devices:2} devices: straight {straight:12,}   theory {placed:12,}   "
                      f"by launches {to_devices + between - straight:12,}   theory {moved:12,}   {'as it must be' if good else 'WRONG'}")
    if options.write:
        options.write.write_text(page(rows, uploads))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
