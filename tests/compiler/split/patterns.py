"""Kernels as programs have them: tiles, reductions, rows, triangles, odd arithmetic."""

from kernel import CELL_MEMBERS, EITHER


def shape(k, grid, block):
    k.grid, k.block = grid, block


def transpose(k):
    tile = k.pick(8, 16, 7)
    width, height = k.number(30, 100), k.number(30, 100)
    kind = k.element()
    shape(k, (-(-width // tile), -(-height // tile), 1), (tile, tile, 1))
    source, target = k.array(kind, width * height), k.array(kind, width * height, const=False)
    w, h = k.scalar(width), k.scalar(height)
    k.line(f"__shared__ {kind} tile[{tile}][{tile + k.pick(0, 1)}];",
           f"int x = blockIdx.x * {tile} + threadIdx.x, y = blockIdx.y * {tile} + threadIdx.y;",
           f"if (x < {w} && y < {h}) tile[threadIdx.y][threadIdx.x] = {source}[y * {w} + x];",
           "__syncthreads();",
           f"x = blockIdx.y * {tile} + threadIdx.x;", f"y = blockIdx.x * {tile} + threadIdx.y;",
           f"if (x < {h} && y < {w}) {target}[y * {h} + x] = tile[threadIdx.x][threadIdx.y];")


def matmul(k):
    tile = k.pick(4, 8)
    side, inner = k.number(24, 60), k.number(10, 40)
    kind = k.pick("int", "float", "double", "short")
    blocks = -(-side // tile)
    shape(k, (blocks, blocks, 1), (tile, tile, 1))
    a, b, c = k.array(kind, side * inner), k.array(kind, inner * side), k.array(kind, side * side, const=False)
    n, m = k.signed_scalar(side), k.signed_scalar(inner)
    k.line(f"__shared__ unsigned as[{tile}][{tile}], bs[{tile}][{tile}];",
           "const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;",
           "unsigned v = 0;", f"for (int t = 0; t < ({m} + {tile} - 1) / {tile}; ++t) {{",
           f"const int i = t * {tile} + threadIdx.x, j = t * {tile} + threadIdx.y;",
           f"as[threadIdx.y][threadIdx.x] = row < {n} && i < {m} ? number({a}[row * {m} + i]) : 0;",
           f"bs[threadIdx.y][threadIdx.x] = column < {n} && j < {m} ? number({b}[j * {n} + column]) : 0;",
           "__syncthreads();", f"for (int k = 0; k < {tile}; ++k) v += as[threadIdx.y][k] * bs[k][threadIdx.x];",
           "__syncthreads();", "}", f"if (row < {n} && column < {n}) {c}[row * {n} + column] = Element<{kind}>::of(v);")


def halo(k):
    size, radius, block = k.number(200, 2000), k.number(1, 5), k.pick(32, 64, 50)
    kind = k.element()
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    n = k.scalar(size)
    periodic = k.chance(0.4)
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    outside = f"(i + {n}) % {n}" if periodic else f"min(max(i, 0), (int){n} - 1)"
    dynamic = k.chance(0.4)
    k.dynamic_bytes = (block + 2 * radius) * 4 if dynamic else 0
    k.line(f"{'extern ' if dynamic else ''}__shared__ unsigned near{'' if dynamic else ''}_{k.seed}[{'' if dynamic else block + 2 * radius}];",
           f"for (int j = threadIdx.x; j < blockDim.x + {2 * radius}; j += blockDim.x) {{",
           f"const int i = (int)(blockIdx.x * blockDim.x) + j - {radius};", f"near_{k.seed}[j] = number({source}[{outside}]);", "}",
           "__syncthreads();", "const int x = blockIdx.x * blockDim.x + threadIdx.x;", f"if (x >= {n}) return;", "unsigned v = 0;",
           f"for (int j = 0; j <= {2 * radius}; ++j) v = v * 3 + near_{k.seed}[threadIdx.x + j];",
           f"{target}[x] = Element<{kind}>::of(v);")


def reduction(k):
    block = k.pick(32, 64, 128)
    blocks = k.number(3, 20)
    size = block * blocks * k.number(1, 3) - k.number(0, 30)
    kind = k.element()
    shape(k, (blocks, 1, 1), (block, 1, 1))
    source, target, n = k.array(kind, size), k.array("int", blocks, const=False), k.scalar(size)
    k.line(f"__shared__ unsigned part[{block}];", "unsigned v = 0;",
           f"for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < {n}; i += gridDim.x * blockDim.x) v += number({source}[i]);",
           "part[threadIdx.x] = v;", "__syncthreads();")
    if k.chance(0.5):
        k.line("for (int s = blockDim.x / 2; s > 0; s >>= 1) {", "if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];",
               "__syncthreads();", "}")
    else:
        k.line("for (int s = 1; s < blockDim.x; s *= 2) {", "const int i = 2 * s * threadIdx.x;",
               "if (i < blockDim.x) part[i] += part[i + s];", "__syncthreads();", "}")
    k.line(f"if ({k.pick('threadIdx.x == 0', '!threadIdx.x')}) {target}[blockIdx.x] = part[0];")


def walk(k):
    nx, ny, nz = k.number(12, 40), k.number(12, 30), k.number(3, 10)
    bx, by = k.pick((8, 4), (7, 3), (16, 2), (4, 4))
    kind = k.element()
    shape(k, (-(-nx // bx), -(-ny // by), 1), (bx, by, 1))
    source, target = k.array(kind, nx * ny * nz), k.array(kind, nx * ny * nz, const=False)
    w, h, d = k.scalar(nx), k.scalar(ny), k.scalar(nz)
    k.line("const int x = blockIdx.x * blockDim.x + threadIdx.x;", "const int y = blockIdx.y * blockDim.y + threadIdx.y;",
           f"if (x >= {w} || y >= {h}) return;")
    if k.chance(0.5):
        k.line(f"int i = y * {w} + x;", "unsigned below = 0, here = 0;", f"for (int z = 0; z < {d}; ++z) {{",
               f"here = number({source}[i]);", f"{target}[i] = Element<{kind}>::of(here + 3 * below);", "below = here;",
               f"i += {w} * {h};", "}")
    else:
        k.line(f"const {kind}* from = {source} + y * {w} + x;", f"{kind}* to = {target} + y * {w} + x;",
               f"for (int z = {d}; z != 0; --z, from += {w} * {h}, to += {w} * {h})", f"*to = Element<{kind}>::of(number(*from) * 5);")


def histogram(k):
    bins, block, blocks = k.pick(16, 32, 64), k.pick(32, 64), k.number(3, 12)
    size = k.number(500, 3000)
    shape(k, (blocks, 1, 1), (block, 1, 1))
    source, target, n = k.array("unsigned char", size), k.array("int", bins * blocks, const=False), k.scalar(size)
    k.line(f"__shared__ unsigned count[{bins}];", f"for (int i = threadIdx.x; i < {bins}; i += blockDim.x) count[i] = 0;",
           "__syncthreads();", f"for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < {n}; i += blockDim.x * gridDim.x)",
           f"atomicAdd(&count[{source}[i] % {bins}], 1u);", "__syncthreads();",
           f"for (int i = threadIdx.x; i < {bins}; i += blockDim.x) {target}[blockIdx.x * {bins} + i] = count[i];")


def row_of_block(k):
    width, height, block = k.number(20, 200), k.number(3, 40), k.pick(32, 33, 16)
    kind = k.element()
    pitch = width + k.pick(0, 0, 5)
    shape(k, (height, 1, 1), (block, 1, 1))
    source, target = k.array(kind, pitch * height), k.array(kind, pitch * height, const=False)
    w, p = k.scalar(width), k.scalar(pitch)
    k.line(f"const {kind}* from = {source} + (size_t)blockIdx.x * {p};", f"{kind}* to = {target} + (size_t)blockIdx.x * {p};",
           f"for (int i = threadIdx.x; i < {w}; i += blockDim.x) to[i] = Element<{kind}>::of(number(from[i]) + number(from[0]));")


def row_of_thread(k):
    width, height, block = k.number(3, 30), k.number(100, 600), k.pick(32, 64, 20)
    kind = k.element()
    shape(k, (-(-height // block), 1, 1), (block, 1, 1))
    source, target = k.array(kind, width * height), k.array(kind, width * height, const=False)
    w, h = k.signed_scalar(width), k.signed_scalar(height)
    k.line("const int y = blockIdx.x * blockDim.x + threadIdx.x;", f"if (y >= {h}) return;", "unsigned v = 0;")
    form = k.number(0, 5)
    if form == 0:
        k.line(f"for (int i = 0; i < {w}; ++i) {{", f"v += number({source}[y * {w} + i]);", f"{target}[y * {w} + i] = Element<{kind}>::of(v);", "}")
    elif form == 1:
        k.line(f"for (int i = 0; i < {w}; ++i) {{", f"v += number({source}[y * {w} + i]);", "if ((v & 15) == 3) break;",
               f"{target}[y * {w} + i] = Element<{kind}>::of(v);", "}")
    elif form == 2:
        k.line(f"for (int i = 0; i < {w}; ++i) {{", f"v += number({source}[y * {w} + i]);", "if ((v & 15) == 3) return;",
               f"{target}[i * {h} + y] = Element<{kind}>::of(v);", "}")
    elif form == 3:
        k.line(f"int i = {w} - 1;", "do {", f"{target}[y * {w} + i] = Element<{kind}>::of(number({source}[y * {w} + i]) + i);", "} while (--i >= 0);")
    elif form == 4:
        k.line(f"for (int i = 0; i <= y && i < {w}; ++i) {target}[y * {w} + i] = {source}[i * {h} + y];")
    else:
        k.line(f"int i = {k.number(0, 2)};", f"while (i < {w}) {{", f"v = number({source}[y * {w} + i]);", f"{target}[y * {w} + i] = Element<{kind}>::of(v);",
               f"i += 1 + (v & 1);", "}")


def flat(k):
    """Two coordinates out of one number."""
    width, height, block = k.number(10, 60), k.number(10, 60), k.pick(32, 64, 100)
    kind = k.element()
    pitch = width + k.pick(0, 0, 3)
    shape(k, (-(-width * height // block), 1, 1), (block, 1, 1))
    source, target = k.array(kind, pitch * height), k.array(kind, pitch * height, const=False)
    w, h, p = k.scalar(width), k.scalar(height), k.scalar(pitch)
    index = k.pick("int", "unsigned", "size_t")
    k.line(f"const {index} i = blockIdx.x * blockDim.x + threadIdx.x;", f"const {index} y = i / {w}, x = i % {w};",
           f"if ({k.pick(f'y >= {h}', f'i >= {w} * {h}')}) return;", f"{target}[y * {p} + x] = Element<{kind}>::of(number({source}[y * {p} + x]) + x);")


def flat_blocks(k):
    nx, ny, block = k.number(2, 6), k.number(3, 9), 16
    kind = k.element()
    shape(k, (nx * ny, 1, 1), (block, 2, 1))
    source, target = k.array(kind, nx * ny * block * 2), k.array(kind, nx * ny * block * 2, const=False)
    w = k.scalar(nx)
    k.line(f"const int bx = blockIdx.x % {w}, by = blockIdx.x / {w};", f"const int x = bx * {block} + threadIdx.x, y = by * 2 + threadIdx.y;",
           f"{target}[y * {w} * {block} + x] = Element<{kind}>::of(number({source}[y * {w} * {block} + x]) * 3);")


def packed_triangle(k):
    k.expect = EITHER
    size, block = k.number(30, 80), k.pick(8, 16)
    kind = k.element()
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    count = size * (size + 1) // 2
    source, target, n = k.array(kind, count), k.array(kind, count, const=False), k.scalar(size)
    k.line("const int y = blockIdx.x * blockDim.x + threadIdx.x;", f"if (y >= {n}) return;",
           f"for (int x = 0; x <= y; ++x) {target}[y * (y + 1) / 2 + x] = Element<{kind}>::of(number({source}[y * (y + 1) / 2 + x]) + y);")


def permutation(k):
    """Each element once, by arithmetic that is not affine."""
    k.expect = EITHER
    bits, block = k.number(7, 11), k.pick(32, 64)
    kind, size = k.element(), 1 << bits
    shape(k, (size // block, 1, 1), (block, 1, 1))
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    mask = k.scalar(size - 1, k.pick("literal", "unsigned", "int"))
    odd = k.pick(3, 5, 17, 2654435761)
    index = k.pick(f"(i * {odd}u) & {mask}", f"i ^ {k.number(1, 31)}", f"__brev(i) >> {32 - bits}", f"(i + {k.number(1, 99)}) & {mask}",
                   f"(i * {odd}u) % {size}u", f"{mask} & ~i", f"(i << 1 | i >> {bits - 1}) & {mask}", f"(i - {k.number(1, 99)}u) & {mask}",
                   f"(i & ~15u) | (15u - (i & 15u))", f"(i % 8) * {size // 8} + i / 8", f"(i * {odd}u) << {32 - bits} >> {32 - bits}")
    k.line("const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;", f"{target}[{index}] = Element<{kind}>::of(number({source}[i]) + i);")


def wrapped(k):
    """Unsigned arithmetic that passes zero."""
    k.expect = EITHER
    size, block, by = k.number(100, 1000), k.pick(32, 64), k.number(1, 40)
    kind = k.element()
    index = k.pick("unsigned", "unsigned", "unsigned short", "size_t")
    shape(k, (-(-(size + by) // block), 1, 1), (block, 1, 1))
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    offset = k.scalar(f"(unsigned)-{by}" if index != "size_t" else f"(size_t)-{by}", index)
    n = k.scalar(size, k.pick("unsigned", "literal"))
    k.line(f"const {index} i = blockIdx.x * blockDim.x + threadIdx.x + {offset};", f"if ({k.pick(f'i < {n}', f'!(i >= {n})', f'i <= {n} - 1')})",
           f"{target}[i] = Element<{kind}>::of(number({source}[i]) + i);")


def negative(k):
    """From the end of an array to its beginning."""
    size, block, step = k.number(100, 1000), k.pick(32, 64), k.pick(1, 2, 3)
    kind = k.element()
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    source = k.array(kind, size)
    name = k.allocate(kind, size * step)
    target = k.pointer(kind, f"{name} + {size * step - 1}")
    n, by = k.signed_scalar(size), k.scalar(-step, k.pick("literal", "int", "long long", "short", "signed char"))
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i < {n}) {target}[i * {by}] = {source}[i];")


def narrow(k):
    """Indices of few bits, which come round."""
    k.expect = EITHER
    block, blocks = k.pick(64, 256, 100), k.number(3, 8)
    kind = k.element()
    shape(k, (blocks, 1, 1), (block, 1, 1))
    source, target = k.array(kind, 33000 + 65536), k.array(kind, block * blocks, const=False)
    cast = k.pick("unsigned char", "signed char", "unsigned short", "short")
    add = k.pick("", " + 32000", " + 200")
    read = f"{source}[({cast})(i * {k.pick(1, 3, 257)}{add}) + 33000]"
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"const {cast} t = i{add};",
           f"{target}[i] = Element<{kind}>::of(number({read}) + number({source}[33000 + t]));")


def geometric(k):
    k.expect = EITHER
    size, block, levels = k.number(100, 500), k.pick(32, 64), 4
    kind = k.element()
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    source, target, n = k.array(kind, size + 16), k.array(kind, size * 16, const=False), k.scalar(size)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i < {n})",
           f"for (int s = {k.pick('1; s < 16; s *= 2', '8; s > 0; s /= 2', '8; s; s >>= 1', '1; s < 16; s += s')}) {target}[i * 16 + s] = Element<{kind}>::of(number({source}[i + s]));")


def pointers(k):
    """One of two arrays, by a scalar or by the place."""
    size, block = k.number(100, 1000), k.pick(32, 64)
    kind = k.element()
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    source = k.array(kind, size)
    one, other = k.array(kind, size, const=False), k.array(kind, size, const=False)
    n = k.scalar(size)
    which = k.pick(f"{k.signed_scalar(k.pick(0, 1))}", f"i < {k.number(20, 90)}", "i % 2", "blockIdx.x > 1", f"number({source}[i]) & 1")
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n}) return;", f"{kind}* to = {one};",
           f"if ({which}) to = {other}{k.pick('', ' + 0')};", f"to[i] = {source}[i];")


def wide_stores(k):
    """Elements as parts of vectors."""
    size, block = 4 * k.number(50, 300), k.pick(32, 64)
    kind, vector, lanes = k.pick(("float", "float4", 4), ("float", "float2", 2), ("int", "int4", 4), ("double", "double2", 2), ("unsigned char", "uchar4", 4))
    shape(k, (-(-size // lanes // block), 1, 1), (block, 1, 1))
    base = k.allocate(kind, 2 * size)
    source, target = k.pointer("const " + kind, base), k.pointer(kind, f"{base} + {size}")
    n = k.scalar(size)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n} / {lanes}) return;",
           f"{vector} v = reinterpret_cast<const {vector}*>({source})[i];", "v.x += 1;", f"reinterpret_cast<{vector}*>({target})[i] = v;")


def called(k):
    """The address is found, and the store made, in functions."""
    size, block = k.number(100, 1000), k.pick(32, 64)
    kind = k.element()
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    s = k.seed
    inline = k.pick("", "__forceinline__", "__noinline__")
    k.globals += [f"struct View{s} {{ {kind}* data; int size; __device__ {kind}& operator()(int i) const {{ return data[i]; }} }};",
                  f"__device__ {inline} int place{s}() {{ return blockIdx.x * blockDim.x + threadIdx.x; }}",
                  f"__device__ {inline} void put{s}(View{s} to, int i, unsigned v) {{ if (i < to.size) to(i) = Element<{kind}>::of(v); }}"]
    name = k.allocate(kind, size)
    k.parameters.append((f"View{s} view", f"View{s}{{{name}, {size}}}"))
    source = k.array(kind, size)
    k.line(f"const int i = place{s}();", f"if (i < view.size) put{s}(view, {k.pick('i', 'view.size - 1 - i')}, number({source}[i]));")


def copies(k):
    """Whole structs, rows of bytes."""
    size, block = k.number(50, 300), k.pick(16, 32)
    s = k.seed
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    words = k.number(3, 12)
    k.globals.append(f"struct Row{s} {{ int words[{words}]; }};")
    source, target, n = k.array("int", size * words), k.array("int", size * words * 2, const=False), k.scalar(size)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n}) return;",
           k.pick(f"reinterpret_cast<Row{s}*>({target})[i * 2] = reinterpret_cast<const Row{s}*>({source})[i];",
                  f"memcpy({target} + i * {2 * words}, {source} + i * {words}, sizeof(Row{s}));",
                  f"Row{s} row = reinterpret_cast<const Row{s}*>({source})[i]; row.words[{words - 1}] = i; reinterpret_cast<Row{s}*>({target})[2 * i + 1] = row;"))


def shuffled(k):
    block, blocks = k.pick(32, 64), k.number(3, 12)
    kind = k.element()
    size = block * blocks
    shape(k, (blocks, 1, 1), (block, 1, 1))
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"unsigned v = number({source}[i]);",
           k.pick("v += __shfl_xor_sync(~0u, v, 4);", "v += __shfl_down_sync(~0u, v, 1);", "v = __reduce_add_sync(~0u, v);", "v += __popc(__ballot_sync(~0u, v & 1));"),
           k.pick(f"{target}[i] = Element<{kind}>::of(v);", f"if (threadIdx.x % 32 == 0) {target}[i / 32] = Element<{kind}>::of(v);",
                  f"if ((threadIdx.x & 31) == 3) {target}[blockIdx.x * blockDim.x / 32 + threadIdx.x / 32] = Element<{kind}>::of(v);"))


def parts(k):
    """Reads one half of an allocation and writes the other; halves change at each launch."""
    half, block = k.number(100, 900), k.pick(32, 64)
    kind = k.element()
    shape(k, (-(-half // block), 1, 1), (block, 1, 1))
    base = k.allocate(kind, 2 * half)
    first, second = f"{base}", f"{base} + {half}"
    source, target = k.pointer("const " + kind, first), k.pointer(kind, second)
    n = k.scalar(half)
    k.launches, k.swap = 3, (first, second)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n}) return;", f"const int j = i + 1 < {n} ? i + 1 : 0;",
           f"{target}[i] = Element<{kind}>::of(number({source}[i]) + 3 * number({source}[j]));")


def rows_apart(k):
    """Blocks write columns of rows, others' lie between them."""
    width, height, column = k.number(20, 60), k.number(10, 60), k.number(2, 6)
    kind = k.element()
    blocks = -(-width // column)
    shape(k, (blocks, 1, 1), (column, k.pick(1, 4), 1))
    target = k.array(kind, width * height, const=False)
    w, h = k.scalar(width), k.scalar(height)
    k.launches = 2
    k.line("const int x = blockIdx.x * blockDim.x + threadIdx.x;", f"for (int y = threadIdx.y; y < {h}; y += blockDim.y)",
           f"if (x < {w}{k.pick('', ' && (x + y) % 3', ' && x <= y', ' && y % 2')}) {target}[y * {w} + x] = Element<{kind}>::of(number({target}[y * {w} + x]) * 3 + x);")


def members(k):
    """Of each struct of an array, or of some."""
    size, block = k.pick(300, 1500, 6000), k.pick(32, 128)
    member = k.random.choice(list(CELL_MEMBERS))
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    target, n = k.array("Cell", size, const=False), k.scalar(size)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n}{k.pick('', ' || i % 3 == 0')}) return;",
           f"{target}[i].{member} = Element<{CELL_MEMBERS[member]}>::of(number({target}[i].{k.pick('a', 'b', 'd')}) * 3 + 1);")


def two_sides(k):
    """Two pointers to the same bytes, each of which one of them writes; data say which."""
    k.expect = EITHER
    size, block = k.number(100, 900), k.pick(32, 64)
    kind = k.element()
    shape(k, (-(-size // block), 1, 1), (block, 1, 1))
    base = k.allocate(kind, size)
    one, other = k.pointer(kind, base), k.pointer(kind, base)
    flags, n = k.array("int", size), k.scalar(size)
    condition = k.pick(f"{flags}[@] & 1", "@ % 3 == 1", "@ & 1", "@ < 77")
    j = k.pick(f"{n} - 1 - i", "i")
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n}) return;", f"const int j = {j};",
           f"if ({condition.replace('@', 'i')}) {one}[i] = Element<{kind}>::of(i);",
           f"if (!({condition.replace('@', 'j')})) {other}[j] = Element<{kind}>::of(j + 7);")


def shifted(k):
    """Threads in front of the array, and behind it."""
    size, block, by = k.number(100, 1000), k.pick(32, 64), k.number(1, 40)
    kind = k.element()
    blocks = -(-(size + by) // block) + k.pick(0, 1)
    shape(k, (blocks, 1, 1), (block, 1, 1))
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    b, n = k.signed_scalar(by), k.signed_scalar(size)
    place = k.pick("blockIdx.x", "blockIdx.x", "(gridDim.x - 1 - blockIdx.x)")
    k.line(f"const int i = (int)({place} * blockDim.x + threadIdx.x) - {b};",
           f"if ({k.pick(f'(unsigned)i < (unsigned){n}', f'i >= 0 && i < {n}', f'!(i < 0 || i >= {n})', f'i > -1 && {n} > i', f'(unsigned)i <= {n} - 1u')})",
           f"{target}[i] = Element<{kind}>::of(number({source}[i]) + i);")


def rotated(k):
    k.expect = EITHER
    size, block, by = k.number(100, 1000), k.pick(32, 64), k.number(1, 40)
    kind = k.element()
    blocks = -(-size // block)
    shape(k, (blocks, 1, 1), (block, 1, 1))
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    b, n = k.signed_scalar(by), k.signed_scalar(size)
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n}) return;",
           f"const int j = {k.pick(f'(i + {b}) % {n}', f'i + {b} < {n} ? i + {b} : i + {b} - {n}', f'(i - {b} + {n}) % {n}', f'i >= {b} ? i - {b} : i + ({n} - {b})')};",
           f"{target}[j] = Element<{kind}>::of(number({source}[i]) + i);")


def linear_thread(k):
    """A number for each thread of a block of two dimensions; warps and lanes."""
    bx, by = k.pick((8, 8), (16, 4), (32, 2), (5, 3))
    blocks = k.number(3, 14)
    kind = k.element()
    size = bx * by * blocks
    shape(k, (blocks, 1, 1), (bx, by, 1))
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    k.line("const int t = threadIdx.y * blockDim.x + threadIdx.x;", "const int warp = t / 32, lane = t % 32;",
           f"const int i = blockIdx.x * {k.pick(str(bx * by), 'blockDim.x * blockDim.y')} + {k.pick('t', 'warp * 32 + lane', '(warp << 5 | lane)')};",
           f"{k.pick('', '', 'if (lane == 0 || lane > 7) ', 'if (warp == 0) ')}{target}[i] = Element<{kind}>::of(number({source}[i]) + i);")


def chunked(k):
    """Each block has a range of its own."""
    size, block, blocks = k.number(300, 2000), k.pick(32, 64), k.number(3, 12)
    kind = k.element()
    chunk = -(-size // blocks)
    shape(k, (blocks, 1, 1), (block, 1, 1))
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    n, c = k.signed_scalar(size), k.pick(k.signed_scalar(chunk), "chunk")
    if c == "chunk":
        k.expect = EITHER
        k.line(f"const int chunk = ({n} + gridDim.x - 1) / gridDim.x;")
    k.line(f"const int begin = blockIdx.x * {c};", f"const int end = {k.pick(f'min(begin + {c}, {n})', f'begin + {c} < {n} ? begin + {c} : {n}')};",
           f"for (int i = begin + threadIdx.x; i < end; i += blockDim.x) {target}[i] = Element<{kind}>::of(number({source}[i]) + i);")


ALL = [members, two_sides, shifted, shifted, rotated, linear_thread, chunked, transpose, matmul, halo, reduction, walk, histogram, row_of_block, row_of_thread, row_of_thread, flat, flat_blocks,
       packed_triangle, permutation, permutation, wrapped, wrapped, negative, narrow, geometric, pointers, wide_stores, called, copies,
       shuffled, parts, rows_apart]


def make(k):
    kind = k.random.choice(ALL)
    k.kind = kind.__name__
    kind(k)
