"""Kernels that several devices must not share: what they write depends on data, or blocks meet."""

from kernel import EITHER, HOST


def frame(k, size=None):
    block, blocks = k.pick(32, 64, 128), k.number(9, 20)
    size = size or block * blocks
    k.grid, k.block = (blocks, 1, 1), (block, 1, 1)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;")
    return size


def scatter(k):
    size = frame(k)
    kind = k.element()
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    k.line(f"{target}[{k.indices(size, size)}[i]] = Element<{kind}>::of(number({source}[i]) + 3);")


def equal(k):
    """All blocks write the same value to the same place."""
    size = frame(k)
    kind = k.element()
    target = k.array(kind, size * 2, const=False)
    k.line(k.pick(f"{target}[i % 64] = Element<{kind}>::of(i % 64);", f"{target}[0] = Element<{kind}>::of(5);",
                  f"{target}[threadIdx.x] = Element<{kind}>::of(threadIdx.x);", f"{target}[threadIdx.x * 3 + 1] = Element<{kind}>::of(7);",
                  f"for (int j = 0; j < blockDim.x + 2; ++j) {target}[blockIdx.x * blockDim.x + j] = Element<{kind}>::of(4);",
                  f"{target}[i] = Element<{kind}>::of(9); {target}[i + 1] = Element<{kind}>::of(9);"))


def atomics(k):
    size = frame(k)
    source, target = k.array("int", size), k.array("int", 64, const=False)
    k.line(k.pick(f"atomicAdd(&{target}[{source}[i] & 63], 3);", f"atomicMax({target}, {source}[i]);", f"atomicAdd({target} + i % 64, {source}[i]);",
                  f"atomicXor({target} + (i & 7), {source}[i]);", f"if (threadIdx.x == 0) atomicAdd({target}, 1);"))


def pointers_in_memory(k):
    size = frame(k)
    kind = k.element()
    base = k.allocate(kind, size)
    table = k.name("m")
    k.memory.append(f"{kind}** {table} = run.make_pointers({base}, {k.grid[0]}, {k.block[0]});")
    source, rows = k.array(kind, size), k.pointer(f"{kind}* const", table)
    k.line(f"{rows}[blockIdx.x][threadIdx.x] = Element<{kind}>::of(number({source}[i]) * 3);")


def variable(k):
    size = frame(k)
    name = f"result{k.seed}"
    k.globals.append(f"__device__ int {name}[{size}];")
    source = k.array("int", size)
    k.line(k.pick(f"{name}[i] = {source}[i] * 3;", f"if (i == 77) {name}[3] = {source}[i];"))
    k.after += [f"static int back[{size}];", f"check(cudaMemcpyFromSymbol(back, {name}, {size} * 4), \"symbol\");", f"run.look_at(back, {size});"]


def looked_up(k):
    """Written where an earlier kernel of the table says."""
    size = frame(k)
    kind = k.element()
    starts = k.indices(k.grid[0], k.grid[0])
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    k.line(f"const int begin = {starts}[blockIdx.x] * blockDim.x;", f"{target}[begin + threadIdx.x] = {source}[i];")


def two_names(k):
    """Two pointers to the same bytes, of which both write the same."""
    k.expect = EITHER
    size = frame(k)
    kind = k.element()
    base = k.allocate(kind, size * 2)
    one = k.pointer(kind, base)
    other = k.pointer(kind, f"{base} + {k.pick(0, 1, size // 2, k.block[0])}")
    k.line(f"{one}[i] = Element<{kind}>::of(6);", f"{k.pick('', 'if (i % 3 == 1) ')}{other}[i] = Element<{kind}>::of(6);")


def product(k):
    """Apart, but by a product of two places."""
    k.expect = EITHER
    block, blocks = 16, k.number(4, 9)
    k.grid, k.block = (blocks, 1, 1), (block, 1, 1)
    target = k.array("int", block * (blocks * blocks + 1), const=False)
    k.line(f"if (threadIdx.x > 0) {target}[{k.pick('blockIdx.x * blockIdx.x * blockDim.x', 'blockIdx.x * (blockIdx.x + 1) / 2 * blockDim.x')} + threadIdx.x] = threadIdx.x + blockIdx.x;")


ALL = [scatter, equal, equal, atomics, pointers_in_memory, variable, looked_up, two_names, product]


def make(k):
    k.expect = HOST
    kind = k.random.choice(ALL)
    k.kind = kind.__name__
    kind(k)
