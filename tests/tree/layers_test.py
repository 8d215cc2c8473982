#!/usr/bin/env python3
"""Plants right and wrong includes in a small tree and requires layers.py to tell them apart."""

import os
import subprocess
import sys
import tempfile

import layers

HERE = os.path.dirname(os.path.abspath(__file__))

# (file, what it includes, a part of the complaint, or None where it is allowed)
CASES = [
    ("runtime/plan/planner.cpp", '"plan/planner.hpp"', None),
    ("runtime/plan/planner.cpp", '"coherence/directory.hpp"', None),
    ("runtime/plan/planner.cpp", "<absl/container/btree_map.h>", None),
    ("runtime/plan/planner.cpp", "<nuna/box.hpp>", None),
    ("runtime/plan/planner.cpp", '"execute/live.hpp"', "above"),
    ("runtime/plan/planner.cpp", '"../execute/live.hpp"', "above"),
    ("runtime/plan/planner.hpp", '"transfer/pack.hpp"', "beside"),
    ("runtime/coherence/directory.cpp", '"plan/not_written_yet.hpp"', "above"),
    ("runtime/base/clock.cpp", '"trace/recorder.hpp"', "above"),
    ("runtime/plan/planner.cpp", "<nuna/buffer.hpp>", "vocabulary"),
    ("runtime/plan/planner.cpp", '"doorkeeper.hpp"', "stands above every layer"),
    ("runtime/novelty/novel.cpp", '"base/clock.hpp"', "not in cmake/layers.txt"),
    ("runtime/device/host/host_device.cpp", '"device/device.hpp"', None),
    ("runtime/device/host/host_device.cpp", '"device/host/host_device.hpp"', None),
    ("runtime/device/host/host_device.cpp", '"device/cuda/driver.hpp"', "sideways"),
    ("runtime/device/cuda/driver.cpp", "<cuda.h>", None),
    ("runtime/device/host/host_device.cpp", "<cuda.h>", "may use this library"),
    ("runtime/device/device.hpp", "<cudaTypedefs.h>", "may use this library"),
    ("api/include/nuna/cuda_entry.hpp", "<cuda_runtime.h>", "may use this library"),
    ("api/src/context.cpp", "<cuda_runtime_api.h>", "may use this library"),
    ("apps/stencil.cpp", "<cufft.h>", "may use this library"),
    ("examples/first.cpp", "<cub/device/device_scan.cuh>", "may use this library"),
    ("tests/plan/planner_test.cpp", "<cuda.h>", "may use this library"),
    ("tests/cuda_standin/driver.cpp", "<cuda.h>", None),
    ("runtime/cluster/in_process.cpp", "<mpi.h>", "may use this library"),
    ("runtime/base/log.cpp", "<spdlog/spdlog.h>", None),
    ("runtime/base/log.hpp", "<spdlog/spdlog.h>", "out of headers"),
    ("runtime/plan/planner.cpp", "<gtest/gtest.h>", "may use this library"),
    ("api/include/nuna/buffer.hpp", "<nuna/box.hpp>", None),
    ("api/include/nuna/buffer.hpp", "<vector>", None),
    ("api/include/nuna/buffer.hpp", "<span>", "C++17"),
    ("api/include/nuna/buffer.hpp", "<absl/types/span.h>", "C++17"),
    ("api/include/nuna/buffer.hpp", '"plan/planner.hpp"', "public header"),
    ("api/src/buffer.cpp", '"plan/planner.hpp"', None),
    ("api/src/buffer.cpp", "<nuna/buffer.hpp>", None),
    ("api/src/buffer.cpp", '"common/picture.hpp"', "apps stand above"),
    ("apps/stencil.cpp", '"plan/planner.hpp"', None),
    ("apps/stencil.cpp", '"common/picture.hpp"', None),
    ("examples/first.cpp", "<nuna/buffer.hpp>", None),
    ("examples/first.cpp", '"plan/planner.hpp"', "installed"),
    ("tests/plan/planner_test.cpp", '"execute/live.hpp"', None),
]

HEADERS = ["runtime/plan/planner.hpp", "runtime/coherence/directory.hpp", "runtime/execute/live.hpp",
           "runtime/transfer/pack.hpp", "runtime/trace/recorder.hpp", "runtime/base/clock.hpp",
           "runtime/device/device.hpp", "runtime/device/host/host_device.hpp", "runtime/device/cuda/driver.hpp",
           "api/include/nuna/box.hpp", "api/include/nuna/buffer.hpp", "api/src/doorkeeper.hpp",
           "apps/common/picture.hpp"]


def write(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run_script(root):
    script = os.path.join(HERE, "layers.py")
    done = subprocess.run([sys.executable, script, root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def run_case(path, included, complaint):
    with tempfile.TemporaryDirectory() as root:
        with open(os.path.join(HERE, "../../cmake/layers.txt"), encoding="utf-8") as arrow:
            write(root, "cmake/layers.txt", arrow.read())
        for header in HEADERS:
            write(root, header, "#pragma once\n")
        write(root, path, f"#pragma once\n#include {included}\n")
        found, _ = layers.Tree(root).problems()
    if complaint is None:
        return not found, found
    return len(found) == 1 and found[0][:2] == (path, 2) and complaint in found[0][3], found


def run_as_script():
    """The script on an empty tree, a wrong one and a right one: wrong and empty must fail."""
    with tempfile.TemporaryDirectory() as root:
        write(root, "cmake/layers.txt", "base\nplan\n")
        empty, _ = run_script(root)
        write(root, "runtime/base/clock.hpp", '#pragma once\n#include "plan/planner.hpp"\n')
        wrong, output = run_script(root)
        write(root, "runtime/base/clock.hpp", "#pragma once\n")
        right, _ = run_script(root)
    return (empty, wrong, right) == (1, 1, 0) and "runtime/base/clock.hpp:2: " in output


def main():
    failed = 0
    for path, included, complaint in CASES:
        passed, output = run_case(path, included, complaint)
        if not passed:
            failed += 1
            wanted = f"a complaint with '{complaint}'" if complaint else "no complaint"
            print(f"{path} includes {included}: wanted {wanted}, got:\n{output}")
    if not run_as_script():
        failed += 1
        print("layers.py as a script: an empty or wrong tree must fail, a right one pass")
    print(f"{len(CASES) + 1} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
