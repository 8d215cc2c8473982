"""Kernels whose places only a launch's numbers make plain: flags that loops leave, masks and shifts by scalars, chunks, clamped neighbours."""

from kernel import EITHER


def line_of_threads(k, size, block):
    k.grid, k.block = (-(-size // block), 1, 1), (block, 1, 1)
    if k.grid[0] < 3:
        k.expect = EITHER


def ghost_zone(k):
    """Blocks compute more than they write, and less from round to round; a flag of the last round says who writes."""
    block, rounds, blocks = k.pick(16, 32, 64), k.number(1, 4), k.number(3, 9)
    size = (block - 2 * rounds) * blocks - k.number(0, 5)
    kind = k.pick("int", "float", "double", "short")
    k.grid, k.block = (blocks, 1, 1), (block, 1, 1)
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    n, r = k.signed_scalar(size), k.signed_scalar(rounds)
    flag = k.pick("bool done = false;", "bool done;", "int done = 0;", "unsigned char done = 0;")
    k.line(f"__shared__ unsigned a[{block}], b[{block}];", f"const int t = threadIdx.x, first = blockIdx.x * ({block} - 2 * {r}) - {r}, x = first + t;",
           f"const int low = {k.pick('first < 0 ? -first : 0', 'max(-first, 0)')};",
           f"const int high = {k.pick(f'first + {block} > {n} ? {n} - first - 1 : {block - 1}', f'min({n} - first, {block}) - 1')};",
           f"if (x >= 0 && x < {n}) a[t] = number({source}[x]);", "__syncthreads();", flag, f"for (int i = 0; i < {r}; ++i) {{", "done = false;",
           f"if (t >= i + 1 && t <= {block} - i - 2 && t >= low && t <= high) {{", "done = true;",
           "b[t] = a[max(t - 1, low)] * 3 + a[t] + a[min(t + 1, high)];", "}", "__syncthreads();")
    if k.chance(0.6):
        k.line(f"if (i == {r} - 1) break;")
    k.line("if (done) a[t] = b[t];", "__syncthreads();", "}", f"if (done) {target}[x] = Element<{kind}>::of(b[t]);")


def ghost_zones(k):
    """The same of two dimensions, one round or more."""
    tile, rounds, wide, high = 16, k.number(1, 3), k.number(2, 4), k.number(3, 5)
    inner = tile - 2 * rounds
    width, height = inner * wide - k.number(0, 5), inner * high - k.number(0, 5)
    kind = k.pick("int", "float")
    k.grid, k.block = (wide, high, 1), (tile, tile, 1)
    source, target = k.array(kind, width * height), k.array(kind, width * height, const=False)
    w, h, r = k.signed_scalar(width), k.signed_scalar(height), k.signed_scalar(rounds)
    k.line(f"__shared__ unsigned a[{tile}][{tile}], b[{tile}][{tile}];", "const int tx = threadIdx.x, ty = threadIdx.y;",
           f"const int x0 = blockIdx.x * ({tile} - 2 * {r}) - {r}, y0 = blockIdx.y * ({tile} - 2 * {r}) - {r}, x = x0 + tx, y = y0 + ty;",
           f"const int index = y * {w} + x;", f"if (x >= 0 && x < {w} && y >= 0 && y < {h}) a[ty][tx] = number({source}[index]);", "__syncthreads();",
           "const int left = x0 < 0 ? -x0 : 0, top = y0 < 0 ? -y0 : 0;",
           f"const int right = x0 + {tile - 1} > {w} - 1 ? {tile - 1} - (x0 + {tile} - {w}) : {tile - 1};",
           f"const int bottom = y0 + {tile - 1} > {h} - 1 ? {tile - 1} - (y0 + {tile} - {h}) : {tile - 1};", "bool done;",
           f"for (int i = 0; i < {r}; ++i) {{", "done = false;",
           f"if (tx >= i + 1 && tx <= {tile} - i - 2 && ty >= i + 1 && ty <= {tile} - i - 2 && tx >= left && tx <= right && ty >= top && ty <= bottom) {{",
           "done = true;", "b[ty][tx] = a[ty][tx] + a[max(ty - 1, top)][tx] * 3 + a[ty][min(tx + 1, right)];", "}", "__syncthreads();",
           f"if (i == {r} - 1) break;", "if (done) a[ty][tx] = b[ty][tx];", "__syncthreads();", "}", f"if (done) {target}[index] = Element<{kind}>::of(b[ty][tx]);")


def kept_flag(k):
    """Set in some round, and never again taken back; or toggled, or cleared."""
    size, block, rounds = k.number(100, 900), k.pick(32, 64), k.number(1, 6)
    kind = k.element()
    line_of_threads(k, size, block)
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    n, r = k.scalar(size), k.signed_scalar(rounds)
    start = k.pick("false", "false", "true")
    k.line("const int x = blockIdx.x * blockDim.x + threadIdx.x;", f"bool found = {start};", f"for (int i = 0; i < {r}; ++i) {{",
           k.pick(f"if (x < {n} && (number({source}[x]) >> i & 1)) found = true;", f"found = found || x + i < {n};", f"found = found && x < {n} - i;",
                  f"if (x % (i + 2) == 1) found = !found;", f"if (x < {n} && number({source}[x]) % 7 == i) {{ found = true; break; }}",
                  f"found |= (x + i) % 3 == 0;", f"if (x == i) {{ found = true; continue; }}", "for (int j = 0; j < i; ++j) if (x % 5 == j) found = true;"),
           "}", f"if (found && x < {n}) {target}[x] = Element<{kind}>::of(number({source}[x]) + 3);")


def flags(k):
    """Several, which loops in loops set, clear, toggle and hand to each other."""
    k.expect = EITHER
    size, block = k.number(100, 400), k.pick(32, 64)
    line_of_threads(k, size, block)
    source, n = k.array("int", size), k.signed_scalar(size)
    names = ["f", "g", "h"][:k.number(1, 3)]
    targets = [k.array("int", size, const=False) for _ in names]
    ends = [k.signed_scalar(k.number(0, 5)) for _ in range(2)]

    def condition(depth):
        rounds = ["i", "j"][:depth] or ["2"]
        r = k.random.choice(rounds)
        return k.pick(f"x > {k.number(0, 300)}", f"x == {r} * 7 + {k.number(0, 99)}", f"x + {r} < {n}", f"x % {k.number(2, 5)} == {r}", f"{r} == {ends[0]} - 1",
                      f"(number({source}[min(x, {n} - 1)]) & 3) == {r}", k.random.choice(names), f"!{k.random.choice(names)}", f"{r} > {k.number(0, 3)}",
                      f"{k.random.choice(names)} && x >= {k.number(0, 90)}", f"x < {k.number(50, 400)} || {k.random.choice(names)}")

    def statement(depth, room):
        name = k.random.choice(names)
        kind = k.number(0, 9)
        if kind <= 1:
            return [f"{name} = {k.pick('true', 'false', condition(depth), k.random.choice(names))};"]
        if kind == 2:
            return [f"{name} {k.pick('|=', '&=', '^=')} {condition(depth)};"]
        if kind == 3 and depth > 0:
            return [f"if ({condition(depth)}) {k.pick('break', 'continue')};"]
        if kind <= 6 and room > 0:
            return [f"if ({condition(depth)}) {{", *block_of(depth, room - 1), *k.pick(["}"], ["} else {", *block_of(depth, room - 1), "}"])]
        if kind <= 8 and depth < 2 and room > 0:
            r = "ij"[depth]
            return [f"for (int {r} = 0; {r} < {ends[depth]}; ++{r}) {{", *block_of(depth + 1, room - 1), "}"]
        return [f"if ({condition(depth)}) {name} = {k.pick('true', 'false', '!' + name)};"]

    def block_of(depth, room):
        return [line for _ in range(k.number(1, 3)) for line in statement(depth, room)]

    k.line("const int x = blockIdx.x * blockDim.x + threadIdx.x;", *[f"{k.pick('bool', 'bool', 'int', 'unsigned char')} {name} = {k.number(0, 1)};" for name in names],
           f"for (int i = 0; i < {ends[0]}; ++i) {{", *block_of(1, 3), "}", *block_of(0, 2),
           *[f"if ({name} && x < {n}) {target}[x] = x * 3 + {i};" for i, (name, target) in enumerate(zip(names, targets))])


def butterfly(k):
    """Four elements of each thread, of a stride that is a power of two."""
    size, block = 1 << k.number(9, 12), k.pick(32, 64)
    kind = k.pick("int", "float", "short", "long long")
    stride = 1 << k.number(0, size.bit_length() - 3)
    line_of_threads(k, size // 4, block)
    data = k.array(kind, size, const=False)
    s = k.scalar(stride, k.pick("int", "unsigned"))
    index = k.pick("int", "unsigned")
    k.launches = k.pick(1, 2)
    if stride > 4:
        k.vary(s, stride // 4)
    k.line(f"const {index} i = blockIdx.x * blockDim.x + threadIdx.x;", f"const {index} pos = i & ({s} - 1), base = ((i - pos) << 2) + pos;",
           f"const unsigned a = number({data}[base]), b = number({data}[base + {s}]), c = number({data}[base + 2 * {s}]), d = number({data}[base + 3 * {s}]);",
           f"{data}[base] = Element<{kind}>::of(a + b);", f"{data}[base + {s}] = Element<{kind}>::of(b + 2 * c);",
           f"{data}[base + 2 * {s}] = Element<{kind}>::of(c + 3 * d);", f"{data}[base + 3 * {s}] = Element<{kind}>::of(d + 5 * a);")


def bit_arithmetic(k):
    """Who writes, and what is read, by masks and shifts of numbers that are of few bits, or not."""
    k.expect = EITHER
    size, block = k.number(100, 400), k.pick(32, 64)
    line_of_threads(k, size, block)
    source, target = k.array("int", 1024), k.array("int", size, const=False)
    n = k.signed_scalar(size)
    numbers = [k.scalar(k.pick(1, 2, 4, 8, 16, 32, 64, 3, 7, 15, 31, 6, 12, 24, 5, 9, 0), k.pick("int", "unsigned", "literal")) for _ in range(2)]
    shift = k.scalar(k.number(0, 6), k.pick("int", "unsigned", "literal"))

    def value(depth):
        if depth == 0:
            return k.pick("x", "x", "threadIdx.x", "blockIdx.x", "x + 1")
        a, m = value(depth - 1), k.random.choice(numbers)
        return k.pick(f"({a} & {m})", f"({a} & ({m} - 1))", f"({a} & -{m})", f"({a} & ~{m})", f"({a} ^ {m})", f"({a} | {m})", f"({a} >> {shift})", f"({a} << {shift})",
                      f"({a} & ((1 << {shift}) - 1))", f"({a} + {m})", f"({a} * 3)", f"({a} ^ {k.number(1, 60)})", f"({a} & {k.number(1, 60)})",
                      f"(({a} >> {shift} << {shift}) | ({value(depth - 1)} & ((1 << {shift}) - 1)))", f"min((int){a}, (int){m})", f"({a} / ({n} / 4))", f"__umul24({a}, {m})")

    condition = k.pick(f"{value(1)} == 0", f"{value(2)} < x", f"{value(1)} != {value(1)}", f"{value(2)} > {k.number(0, 99)}", f"!{value(1)}")
    k.line(f"const {k.pick('int', 'unsigned')} x = blockIdx.x * blockDim.x + threadIdx.x;", f"if (x < {n} && {condition}) {target}[x] = {source}[{value(2)} & 1023] + {source}[{value(1)} % 1024u];")


def merge_step(k):
    size, block = 1 << k.number(8, 11), k.pick(32, 64)
    stride = 1 << k.number(0, size.bit_length() - 2)
    line_of_threads(k, size // 2, block)
    source, target = k.array("int", size), k.array("int", size, const=False)
    s = k.scalar(stride, "unsigned")
    k.line("const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;",
           f"const unsigned pos = {k.pick(f'2 * i - (i & ({s} - 1))', f'((i & -{s}) << 1) + (i & ({s} - 1))', f'i / {s} * 2 * {s} + i % {s}')};",
           f"const int a = {source}[pos], b = {source}[pos + {s}];", f"{target}[pos] = a < b ? a : b;", f"{target}[pos + {s}] = a < b ? b : a;")


def sorting_network(k):
    """Pairs that differ in one bit: its owner is the lower one."""
    size, block = 1 << k.number(8, 10), k.pick(32, 64)
    bits = size.bit_length() - 1
    line_of_threads(k, size, block)
    data = k.array("int", size, const=False)
    j, n = k.scalar(1 << k.number(0, bits - 1), k.pick("int", "unsigned")), k.scalar(1 << k.number(1, bits), "int")
    k.line("const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;", f"const unsigned other = i ^ {j};", "if (other > i) {",
           f"const int a = {data}[i], b = {data}[other];", f"if ({k.pick(f'((i & {n}) == 0) == (a > b)', 'a > b')}) {{ {data}[i] = b; {data}[other] = a; }}", "}")


def shifted_rows(k):
    """Rows as long as a power of two that is given as its logarithm."""
    log, rows, block = k.number(3, 8), k.number(3, 9), k.pick(32, 64)
    kind = k.element()
    k.grid, k.block = (rows, 1, 1), (block, 1, 1)
    source, target = k.array(kind, rows << log), k.array(kind, rows << log, const=False)
    s = k.scalar(log, k.pick("int", "unsigned"))
    k.line(f"const int base = blockIdx.x << {s}, n = 1 << {s};", f"for (int i = threadIdx.x; i < n; i += blockDim.x) {target}[base + i] = "
           f"Element<{kind}>::of(number({source}[base + {k.pick('i', 'n - 1 - i', '(i ^ 1)', '(i + 3 & n - 1)')}]) + i);")


def bits_apart(k):
    """A place taken apart and put together again by shifts and masks."""
    log, rows, block = k.number(3, 6), k.number(8, 30), k.pick(32, 64)
    kind, size = k.element(), rows << log
    line_of_threads(k, size, block)
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    s, n, h = k.scalar(log, k.pick("int", "unsigned")), k.scalar(size), k.scalar(rows)
    k.line(f"const {k.pick('int', 'unsigned')} i = blockIdx.x * blockDim.x + threadIdx.x;", f"if (i >= {n}) return;",
           f"const {k.pick('int', 'unsigned')} r = i >> {s}, c = i & ((1 << {s}) - 1);",
           f"{target}[{k.pick(f'(r << {s}) + c', f'(r << {s}) | c', f'c * {h} + r', f'(({h} - 1 - r) << {s}) + c')}] = Element<{kind}>::of(number({source}[i]) + c);")


def quarters(k):
    """Quotients of scalars as sizes."""
    parts, each, block = k.pick(2, 4, 8), k.number(30, 200), k.pick(32, 64)
    kind, size = k.element(), parts * each + k.number(0, parts - 1)
    line_of_threads(k, size, block)
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    n = k.scalar(size, k.pick("int", "unsigned"))
    k.line("const int i = blockIdx.x * blockDim.x + threadIdx.x;", f"const int q = {n} / {parts};", f"const int part = i / q, at = i % q;",
           f"if (part < {parts}) {target}[{k.pick(f'at * {parts} + part', 'part * q + at', f'({parts} - 1 - part) * q + at')}] = Element<{kind}>::of(number({source}[i]) + at);")


def in_24_bits(k):
    width, height = k.number(30, 90), k.number(20, 60)
    kind = k.element()
    k.grid, k.block = (-(-width // 16), -(-height // 4), 1), (16, 4, 1)
    source, target = k.array(kind, width * height), k.array(kind, width * height, const=False)
    w, h = k.scalar(width, k.pick("int", "unsigned", "literal")), k.scalar(height, k.pick("int", "unsigned"))
    mul = k.pick("__umul24", "__mul24")
    kind_of_index = "int" if mul == "__mul24" else "unsigned"
    k.line(f"const {kind_of_index} x = {mul}(blockIdx.x, blockDim.x) + threadIdx.x, y = {mul}(blockIdx.y, blockDim.y) + threadIdx.y;",
           f"if (x >= {w} || y >= {h}) return;", f"const {kind_of_index} i = {mul}(y, {w}) + x;", f"{target}[i] = Element<{kind}>::of(number({source}[i]) + x);")


def clamped(k):
    """Neighbours that stay inside, counted without a sign."""
    width, height = k.number(30, 60), k.number(12, 40)
    pitch = width + k.pick(0, 3)
    kind = k.element()
    k.grid, k.block = (-(-width // 16), -(-height // 4), 1), (16, 4, 1)
    source, target = k.array(kind, pitch * height), k.array(kind, pitch * height, const=False)
    unsigned = k.pick("unsigned", "unsigned", "int", "size_t")
    w, h, p = (k.scalar(value, unsigned) for value in (width, height, pitch))
    k.line(f"const {unsigned} x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;", f"if (x >= {w} || y >= {h}) return;",
           f"const {unsigned} l = {k.pick('x > 0 ? x - 1 : 0', 'x == 0 ? 0 : x - 1')}, r = {k.pick(f'x + 1 < {w} ? x + 1 : {w} - 1', f'min(x + 1, {w} - 1)')};",
           f"const {unsigned} u = {k.pick('y > 0 ? y - 1 : 0', 'y ? y - 1 : y')}, d = {k.pick(f'y < {h} - 1 ? y + 1 : y', f'min(y + 1, {h} - 1)')};",
           f"{target}[y * {p} + x] = Element<{kind}>::of(number({source}[y * {p} + l]) + 3 * number({source}[y * {p} + r]) + 5 * number({source}[u * {p} + x]) + 7 * number({source}[d * {p} + x]));")


def chunks(k):
    """Of threads or blocks; the last is shorter."""
    size, block, blocks = k.number(300, 2500), k.pick(16, 32), k.number(3, 8)
    kind = k.element()
    of_threads = k.chance(0.5)
    owners = blocks * block if of_threads else blocks
    k.grid, k.block = (blocks, 1, 1), (block, 1, 1)
    source, target = k.array(kind, size), k.array(kind, size, const=False)
    index = k.pick("int", "unsigned", "size_t", "long long")
    n = k.scalar(size, k.pick(index, "literal"))
    all_of_them = "(gridDim.x * blockDim.x)" if of_threads else "gridDim.x"
    if k.chance(0.5):
        chunk = k.scalar(-(-size // owners), index)
    else:
        chunk = "chunk"
        k.line(f"const {index} chunk = ({n} + {all_of_them} - 1) / {all_of_them};")
    owner = "blockIdx.x * blockDim.x + threadIdx.x" if of_threads else "blockIdx.x"
    first, step = ("begin", "++i") if of_threads else ("begin + threadIdx.x", "i += blockDim.x")
    k.line(f"const {index} begin = ({index})({owner}) * {chunk};")
    end = k.pick(f"min(begin + {chunk}, ({index}){n})", f"(begin + {chunk} < {n} ? begin + {chunk} : ({index}){n})")
    if k.chance(0.5):
        k.line(f"const {index} end = {end};")
        end = "end"
    k.line(f"for ({index} i = {first}; i < {end}; {step}) {target}[i] = Element<{kind}>::of(number({source}[i]) + (unsigned)i);")


def no_power(k):
    """A mask that is one for no power of two, and one that comes and goes."""
    k.expect = EITHER
    size, block = 512, 32
    line_of_threads(k, size, block)
    source, target = k.array("int", size), k.array("int", size, const=False)
    m = k.scalar(k.pick(5, 6, 12, 20, 85, 255, 256, 448), k.pick("int", "unsigned"))
    k.vary(m, k.pick(7, 8, 9, 96))
    k.launches = 2
    k.line("const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;",
           k.pick(f"{target}[i ^ {m}] = {source}[i & {m}] + i;", f"if ((i & {m}) == 0) {target}[i] = {source}[i | {m}];",
                  f"{target}[i] = {source}[i & ~{m}] + (i & -{m});", f"if (i & {m}) {target}[i ^ ({m} & 255)] = i;"))


ALL = [ghost_zone, ghost_zone, ghost_zones, kept_flag, flags, flags, butterfly, butterfly, bit_arithmetic, bit_arithmetic, merge_step, sorting_network, shifted_rows, bits_apart, quarters, in_24_bits,
       clamped, chunks, chunks, no_power]


def make(k):
    kind = k.random.choice(ALL)
    k.kind = kind.__name__
    kind(k)
