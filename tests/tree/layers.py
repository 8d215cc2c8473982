#!/usr/bin/env python3
"""Checks every #include of the tree against the arrow between layers (cmake/layers.txt).

    tests/tree/layers.py [root of the tree]

Prints `file:line: what: why` for each wrong include and exits with status 1 if there was one. The rules:
  1. A layer includes itself and the layers of earlier groups, never one beside or above it.
  2. A layer of runtime/ sees only the vocabulary of the public headers: the value types it shares with users.
  3. A public header includes only public headers and the C++17 standard library.
  4. api/src, and then apps and the wrapper libraries, stand above all layers; examples see only public headers.
  5. Backends (the folders below device/ and cluster/) never look sideways.
  6. Some libraries are kept in one place, and out of the headers of runtime/ and api/.
"""

import os
import re
import sys

VOCABULARY = {"nuna/box.hpp", "nuna/error.hpp", "nuna/access_map.hpp", "nuna/config.hpp", "nuna/domain.hpp",
              "nuna/instance.hpp", "nuna/new_bytes.hpp"}
BACKEND_LAYERS = {"device", "cluster"}
SOURCE_FOLDERS = ("runtime", "api", "apps", "examples", "tests", "compiler")
SUFFIXES = (".hpp", ".cpp", ".h", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Third-party header -> (the folders that may include it, "headers too" or "cpp only").
FENCES = [
    (re.compile(r"^(spdlog|fmt)/"), ("runtime/base/",), "cpp only"),
    (re.compile(r"^hwloc(\.h|/)"), ("runtime/topology/",), "cpp only"),
    (re.compile(r"^nlohmann/"), ("runtime/access/", "runtime/trace/", "apps/", "tests/"), "cpp only"),
    (re.compile(r"^toml\+\+/"), ("runtime/topology/", "apps/", "tests/"), "cpp only"),
    (re.compile(r"^(CLI/|png\.h)"), ("apps/", "tests/"), "headers too"),
    (re.compile(r"^(cuda[\w.]*\.h|cu(blas|fft|rand|solver|sparse)\w*\.h|(cub|thrust|cuda|cooperative_groups)(/|\.h$)"
                r"|driver_types\.h|vector_types\.h|device_launch_parameters\.h|nv(rtc|ml|ToolsExt)\w*\.h)"),
     ("runtime/device/cuda/", "api/cudart/", "compiler/include/", "apps/cuda/", "tests/cuda_standin/", "tests/cudart/",
      "tests/compiler/", "tests/perf/cuda/", "tests/gpu/"), "headers too"),
    (re.compile(r"^isl/"), ("compiler/access/", "runtime/access/polyhedral/", "tests/"), "cpp only"),
    (re.compile(r"^mpi\.h"), ("runtime/cluster/mpi/", "api/mpi_wrap/", "api/include/nuna/mpi.hpp", "apps/", "tests/"),
     "headers too"),
    (re.compile(r"^(benchmark/|boost/|starpu)"), ("tests/",), "headers too"),
    (re.compile(r"^(gtest|gmock)/"), ("tests/",), "headers too"),
]

CXX17 = set("""
algorithm any array atomic bitset charconv chrono codecvt complex condition_variable deque exception execution filesystem
forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator limits list locale
map memory memory_resource mutex new numeric optional ostream queue random ratio regex scoped_allocator set shared_mutex
sstream stack stdexcept streambuf string string_view system_error thread tuple type_traits typeindex typeinfo
unordered_map unordered_set utility valarray variant vector
cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib
cstring ctime cuchar cwchar cwctype
assert.h errno.h float.h inttypes.h limits.h math.h stddef.h stdint.h stdio.h stdlib.h string.h
""".split())


def read_arrow(root):
    """layer -> rank of its group, from cmake/layers.txt."""
    ranks = {}
    with open(os.path.join(root, "cmake/layers.txt"), encoding="utf-8") as file:
        groups = [line.split() for line in file if line.strip() and not line.startswith("#")]
    for rank, group in enumerate(groups):
        for layer in group:
            ranks[layer] = rank
    return ranks


class Tree:
    def __init__(self, root):
        self.root = root
        self.ranks = read_arrow(root)

    def resolve(self, name, includer):
        """The path below root that `name` means in the file `includer`, or None for a library's header."""
        beside = os.path.normpath(os.path.join(os.path.dirname(includer), name))
        roots = ["runtime", "api/include", "api/src", "apps", "tests"]
        for path in [beside] + [os.path.normpath(os.path.join(place, name)) for place in roots]:
            if os.path.isfile(os.path.join(self.root, path)):
                return path
        first = name.split("/")[0]
        if first in self.ranks:
            return "runtime/" + name  # does not exist (yet), but where it would belong is clear
        if first == "nuna":
            return "api/include/" + name
        return None

    def layer(self, path):
        """The layer of a path, 'public' for a public header, else None."""
        parts = path.split("/")
        if parts[0] == "runtime" and len(parts) > 2:
            return parts[1]
        return "public" if path.startswith("api/include/") else None

    def complaint(self, includer, name, target):
        """Why `includer` may not include `name` (which is the file `target`, or a library's header), or None."""
        if target is None:
            return self.complaint_of_library(includer, name)
        here, there = self.layer(includer), self.layer(target)
        if includer.startswith("tests/"):
            return None
        if here == "public":
            return None if there == "public" else "a public header includes only public headers and the C++17 library"
        if includer.startswith("examples/"):
            beside = os.path.dirname(target) == os.path.dirname(includer)
            return None if there == "public" or beside else "an example sees only what is installed: <nuna/...>"
        if here is not None:
            return self.layer_complaint(includer, here, name, target, there)
        if includer.startswith("api/") and target.startswith("apps/"):
            return "apps stand above api"
        if target.startswith("tests/"):
            return "only tests include tests"
        return None

    def layer_complaint(self, includer, here, name, target, there):
        if here not in self.ranks:
            return f"layer '{here}' is not in cmake/layers.txt"
        if there == "public":
            if name in VOCABULARY:
                return None
            return "layers see only the vocabulary of the public headers: " + ", ".join(sorted(VOCABULARY))
        if there is None:
            return f"{target.split('/')[0]}/ stands above every layer of runtime/"
        if there not in self.ranks:
            return f"layer '{there}' is not in cmake/layers.txt"
        if there == here:
            return self.backend_complaint(includer, here, target)
        if self.ranks[there] < self.ranks[here]:
            return None
        where = "beside" if self.ranks[there] == self.ranks[here] else "above"
        return f"layer {there} stands {where} layer {here}; a layer looks only to its left (cmake/layers.txt)"

    def backend_complaint(self, includer, layer, target):
        mine, other = includer.split("/")[2:-1], target.split("/")[2:-1]
        if layer in BACKEND_LAYERS and other and mine and mine[0] != other[0]:
            return f"backend {layer}/{mine[0]} looks sideways at {layer}/{other[0]}"
        return None

    def complaint_of_library(self, includer, name):
        for pattern, folders, where in FENCES:
            if not pattern.match(name):
                continue
            if not includer.startswith(folders):
                return "only " + ", ".join(folders) + " may use this library"
            layered = includer.startswith(("runtime/", "api/"))
            if where == "cpp only" and layered and not includer.endswith((".cpp", ".cu")):
                return "this library stays out of headers"
            return None
        if self.layer(includer) == "public" and name not in CXX17:
            return "a public header includes only public headers and the C++17 library"
        return None

    def files(self):
        for folder in SOURCE_FOLDERS:
            for directory, subfolders, names in os.walk(os.path.join(self.root, folder)):
                subfolders[:] = sorted(s for s in subfolders if not s.startswith((".", "build")))
                for name in sorted(names):
                    if name.endswith(SUFFIXES):
                        yield os.path.relpath(os.path.join(directory, name), self.root)

    def problems(self):
        """(file, line number, what, why) of every wrong include, and the number of files read."""
        found, count = [], 0
        for path in self.files():
            count += 1
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    match = INCLUDE.match(line)
                    if not match:
                        continue
                    name = match.group(2)
                    why = self.complaint(path, name, self.resolve(name, path))
                    if why:
                        found.append((path, number, line.strip(), why))
        return found, count


def main():
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    root = os.path.normpath(sys.argv[1] if len(sys.argv) > 1 else default)
    found, count = Tree(root).problems()
    for path, number, what, why in found:
        print(f"{path}:{number}: {what}: {why}")
    if count == 0:
        print(f"no source files below {root}: nothing was checked")
        return 1
    print(f"{count} files, {len(found)} wrong includes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
