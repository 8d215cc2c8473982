"""Kernels of a thread (or a few rounds of one) for each element of a grid of one to three dimensions."""

from kernel import CELL_MEMBERS, EITHER

NAMES = "xyz"


class Coordinate:
    def __init__(self, name, size):
        self.name = name
        self.size = size  # elements
        self.margin = 0   # that nobody writes
        self.end = ""     # text of size


class Layout:
    """Where an element of the grid lies in an array."""

    def __init__(self, kernel, coordinates, plain=False):
        k = kernel
        order = list(range(len(coordinates)))
        if not plain and k.chance(0.15):
            k.random.shuffle(order)
        self.coordinates = [coordinates[i] for i in order]
        fastest = self.coordinates[0]
        pitch = fastest.size + k.pick(0, 0, 0, 1, 3, 16)
        self.pitch = fastest.end if pitch == fastest.size and k.chance(0.6) else k.scalar(pitch)
        self.stride = 1 if plain else k.pick(1, 1, 1, 1, 2, 3)
        self.stride_text = k.scalar(self.stride) if self.stride > 1 and k.chance(0.5) else str(self.stride)
        self.wide = k.chance(0.15)
        self.flipped = set() if plain else {c for c in self.coordinates if k.chance(0.07)}
        self.after = k.number(0, self.stride - 1)
        elements = pitch
        for coordinate in self.coordinates[1:]:
            elements *= coordinate.size
        self.count = elements * self.stride

    def at(self, places=None):
        """The index of an element whose coordinates are called as `places` says."""
        places = places or {}
        texts = []
        for coordinate in self.coordinates:
            text = places.get(coordinate.name, coordinate.name)
            texts.append(f"({coordinate.end} - 1 - ({text}))" if coordinate in self.flipped else text)
        if self.wide:
            texts[-1] = f"(size_t)({texts[-1]})"
        index = f"({texts[-1]})"
        for i in range(len(texts) - 2, -1, -1):
            size = self.pitch if i == 0 else self.coordinates[i].end
            index = f"({index} * {size} + {texts[i]})"
        if self.stride > 1:
            index = f"{index} * {self.stride_text}" + (f" + {self.after}" if self.after else "")
        return index


class Grid:
    def __init__(self, kernel):
        self.k = kernel
        self.closing = 0
        self.in_loop = False
        k = kernel
        dims = k.pick(1, 1, 2, 2, 2, 3)
        sizes = {1: [k.number(64, 1200)], 2: [k.number(20, 60), k.number(10, 30)],
                 3: [k.number(8, 14), k.number(6, 10), k.number(5, 8)]}[dims]
        blocks = {1: k.pick([32], [64], [100], [33], [128], [256]), 2: k.pick([16, 16], [7, 5], [32, 4], [8, 8], [13, 3], [64, 1]),
                  3: k.pick([4, 4, 4], [8, 2, 3], [5, 3, 2], [16, 2, 1])}[dims]
        self.type = k.pick("int", "int", "int", "unsigned", "unsigned", "size_t", "long long")
        self.axes = list(NAMES[:dims])
        if k.chance(0.12):
            k.random.shuffle(self.axes)
        self.coordinates = [Coordinate(NAMES[i], sizes[i]) for i in range(dims)]
        if k.chance(0.4):
            for coordinate in self.coordinates:
                coordinate.margin = k.pick(0, 1, 1, 2)
        self.modes = [k.pick("plain", "plain", "plain", "plain", "loop", "several", "chunk", "offset", "exact") for _ in sizes]
        self.rounds = [k.number(2, 4) if mode in ("several", "chunk") else 1 for mode in self.modes]
        self.counts = []
        for i, coordinate in enumerate(self.coordinates):
            if self.modes[i] == "exact":
                coordinate.margin = 0
                coordinate.size = max(1, coordinate.size // blocks[i]) * blocks[i]
        if all(c.size < 3 * b * r for c, b, r in zip(self.coordinates, blocks, self.rounds)) and "exact" not in self.modes:
            blocks[0] = max(1, self.coordinates[0].size // 5 // self.rounds[0])
        for i, coordinate in enumerate(self.coordinates):
            whole = blocks[i] * self.rounds[i]
            count = -(-coordinate.size // whole)
            if self.modes[i] == "loop":
                count = min(count, k.number(3, 5))
            elif self.modes[i] != "exact" and k.chance(0.1):
                count += 1
            self.counts.append(count)
            coordinate.end = k.scalar(coordinate.size)
        if max(self.counts) < 3:
            k.expect = EITHER
        self.blocks = blocks
        grid, block = [1, 1, 1], [1, 1, 1]
        for i, axis in enumerate(self.axes):
            grid[NAMES.index(axis)] = self.counts[i]
            block[NAMES.index(axis)] = blocks[i]
        k.grid, k.block = tuple(grid), tuple(block)

    # from the thread to its element

    def thread(self, i):
        k, axis = self.k, self.axes[i]
        size = k.pick(f"blockDim.{axis}", f"blockDim.{axis}", str(self.blocks[i]))
        cast = f"({self.type})" if self.type in ("size_t", "long long") else ""
        return k.pick(f"{cast}blockIdx.{axis} * {size} + threadIdx.{axis}", f"threadIdx.{axis} + {size} * {cast}blockIdx.{axis}")

    def open(self):
        """Lines up to where an element is known and inside."""
        k = self.k
        conditions = []
        for i in reversed(range(len(self.coordinates))):
            conditions = self.open_coordinate(i) + conditions
        if k.chance(0.35):
            conditions.append(self.extra_condition())
        self.guard(conditions)

    def open_coordinate(self, i):
        k, mode, axis = self.k, self.modes[i], self.axes[i]
        c = self.coordinates[i]
        x, n, m, kind = c.name, c.end, c.margin, self.type
        below = f"{x} < {n} - {m}" if m else f"{x} < {n}"
        inside = [(below, f"{x} >= {n} - {m}" if m else f"{x} >= {n}")]
        if m:
            inside.append(k.pick((f"{x} >= {m}", f"{x} < {m}"), (f"{x} > {m - 1}", f"{x} <= {m - 1}")))
            if k.chance(0.5):
                inside.reverse()
            if k.chance(0.35):
                inside = [(f"(unsigned){x} - {m}u < (unsigned){n} - {2 * m}u", f"(unsigned){x} - {m}u >= (unsigned){n} - {2 * m}u")]
        if mode == "plain":
            k.line(f"{k.pick('const ', '')}{kind} {x} = {self.thread(i)};")
        elif mode == "exact":
            k.line(f"const {kind} {x} = {self.thread(i)};")
            inside = []
        elif mode == "offset":
            k.line(f"const {kind} {x} = {self.thread(i)} + {m};")
            inside = [(below, f"!({below})")]
        elif mode == "loop":
            begin = f"{self.thread(i)} + {m}" if m else self.thread(i)
            step = k.pick(f"gridDim.{axis} * blockDim.{axis}", f"blockDim.{axis} * gridDim.{axis}")
            k.line(f"for ({kind} {x} = {begin}; {below}; {x} += {step}) {{")
            self.closing += 1
            self.in_loop = True
            inside = []
        else:
            rounds = str(self.rounds[i]) if k.chance(0.6) else k.signed_scalar(self.rounds[i])
            j = f"j{x}"
            k.line(*(["#pragma unroll"] if k.chance(0.2) else []), f"for (int {j} = 0; {j} < {rounds}; ++{j}) {{")
            size = f"blockDim.{axis}"
            if mode == "several":
                k.line(f"const {kind} {x} = ({self.thread(i)}) * {rounds} + {j};")
            else:
                k.line(f"const {kind} {x} = blockIdx.{axis} * {size} * {rounds} + {j} * {size} + threadIdx.{axis};")
            self.closing += 1
            self.in_loop = True
        return inside

    def extra_condition(self):
        """One that leaves elements out."""
        k = self.k
        x = k.random.choice(self.coordinates).name
        y = k.random.choice(self.coordinates).name
        axis = k.random.choice(self.axes)
        flag = k.signed_scalar(k.pick(0, 1, 1)) if k.chance(0.3) else None
        condition = k.pick(f"{x} <= {y} + {k.number(0, 9)}", f"({x} & 1) == 0", f"{x} % 3 != 1", f"{x} / 4 % 2 == 0",
                           f"{x} + {y} < {k.number(20, 90)}", f"threadIdx.{axis} != 0", f"blockIdx.{axis} % 2 == 0", f"{x} != {k.number(0, 9)}",
                           f"blockIdx.{axis} + 1 < gridDim.{axis}", f"({x} < 9 || {y} > 13)", f"(({x} ^ {y}) & 1) == 0", f"{x} >= {k.number(3, 12)}",
                           f"({x} == {y} || {x} % 5 == 2)", f"{flag} != 0" if flag else f"{x} > 1")
        return condition, f"!({condition})"

    def guard(self, conditions):
        k = self.k
        if not conditions:
            return
        style = k.pick("if", "if", "return", "return", "nested", "flag")
        if style == "if":
            k.line(f"if ({' && '.join(yes for yes, _ in conditions)}) {{")
            self.closing += 1
        elif style == "return":
            away = "continue" if self.in_loop else "return"
            if k.chance(0.5):
                k.line(f"if ({' || '.join(no for _, no in conditions)}) {away};")
            else:
                k.line(*[f"if ({no}) {away};" for _, no in conditions])
        elif style == "nested":
            k.line(*[f"if ({yes}) {{" for yes, _ in conditions])
            self.closing += len(conditions)
        else:
            joint = k.pick(" && ", " & ")
            k.line(f"const bool inside = {joint.join(f'({yes})' for yes, _ in conditions)};", "if (inside) {")
            self.closing += 1

    def close(self):
        self.k.line(*["}"] * self.closing)

    # what is read

    def neighbour(self):
        """The names of the coordinates of an element near this one."""
        k = self.k
        places = {}
        for c in self.coordinates:
            x, n = c.name, c.end
            by = k.pick(0, 0, 1, -1) if not c.margin else k.number(-c.margin, c.margin)
            if by == 0:
                continue
            if abs(by) <= c.margin:
                places[x] = f"{x} + {by}" if by > 0 else f"{x} - {-by}"
            elif by > 0:
                places[x] = k.pick(f"({x} + 1 < {n} ? {x} + 1 : {x})", f"min((int){x} + 1, (int){n} - 1)", f"({x} + 1) % {n}")
            else:
                places[x] = k.pick(f"({x} > 0 ? {x} - 1 : 0)", f"max((int){x} - 1, 0)", f"({x} + {n} - 1) % {n}")
        return places

    def side_read(self):
        """From an array of its own."""
        k = self.k
        c, d = k.random.choice(self.coordinates), k.random.choice(self.coordinates)
        x, y = c.name, d.name
        kind = k.number(0, 9)
        element = k.element()
        if kind == 0:
            return f"number({k.array(element, c.size)}[{x}])"
        if kind == 1:
            return f"number({k.array(element, c.size)}[{k.pick(f'{x} / 2', f'{x} >> 1', f'{x} & ~1', f'{x} / {k.scalar(3)}')}])"
        if kind == 2:
            width = k.number(3, 9)
            return f"number({k.array(element, width)}[{x} % {k.scalar(width)}])"
        if kind == 3:
            return f"{k.table(16)}[{k.pick(f'{x} & 15', f'{x} % 16', '3', f'(unsigned char){x} / 16')}]"
        if kind == 4:
            idx = k.indices(c.size, 50)
            return f"number({k.array(element, 50)}[{idx}[{x}]])"
        if kind == 5:
            return f"number({k.array(element, 16)}[({x} * {y}) % 16])"
        if kind == 6:
            far = k.pick(2, 3)
            return f"number({k.array(element, c.size * far)}[{x} * {k.scalar(far)} + {k.number(0, far - 1)}])"
        if kind == 7:
            return f"number({k.array(element, c.size)}[{c.end} - 1 - {x}])"
        if kind == 8:
            return f"number({k.array('Cell', c.size)}[{x}].{k.pick('a', 'b', 'c', 'd')})"
        return f"number({k.array(element, c.size + d.size)}[{x} + {y}])"

    def loop_read(self):
        """Lines that add to v in a loop."""
        k = self.k
        c, d = k.random.choice(self.coordinates), k.random.choice(self.coordinates)
        x, y, rounds = c.name, d.name, k.number(2, 12)
        array = k.array(k.element(), (max(c.size, d.size) + 1) * (rounds + 1))
        end = k.signed_scalar(rounds)
        form = k.number(0, 6)
        if form == 0:
            k.line(f"for (int k = 0; k < {end}; ++k) v += number({array}[{y} * {end} + k]);")
        elif form == 1:
            k.line(f"for (int k = 0; k < {end}; ++k) v += number({array}[k * {c.end} + {x}]);")
        elif form == 2:
            k.line(f"for (int k = {end} - 1; k >= 0; --k) v += number({array}[{x} + k]);")
        elif form == 3:
            k.line(f"for (int k = 0; k < {end}; ++k) {{", f"if ((number({array}[{x} + k]) & 7) == 5) break;", "v += k;", "}")
        elif form == 4:
            k.line(f"for (int k = 0; k <= {x} && k < {end}; k += {k.pick(1, 2)}) v += number({array}[k]);")
        elif form == 5:
            k.line(f"for (unsigned k = {end}; k-- > 0;) v += number({array}[{x} * 2 + k]);")
        else:
            k.line(f"for (int k = 1; k < {end}; k *= 2) v += number({array}[{x} + k]);")


def make(k):
    g = Grid(k)
    cell = k.chance(0.06)
    element = "Cell" if cell else k.element()
    out_layout = Layout(k, g.coordinates)
    planes = k.pick(1, 1, 1, 1, 2, 3)  # outputs of an element
    interleaved = planes > 1 and k.chance(0.5)
    count = out_layout.count * planes
    alias = "none" if cell else k.pick("none", "none", "none", "together", "mixed", "same")
    if planes > 1 and alias in ("mixed", "same"):
        alias = "none"
    in_layout = out_layout if alias in ("same", "mixed") or k.chance(0.5) else Layout(k, g.coordinates, plain=True)
    k.kind = f"grid of {len(g.coordinates)}, {alias}"
    if alias == "none":
        source, target = k.array(element, max(in_layout.count, count)), k.array(element, max(in_layout.count, count), const=False)
    elif alias == "together":
        base, gap = k.allocate(element, in_layout.count + count + 9), k.pick(0, 0, 9)
        pair = [("const " + element, base), (element, f"{base} + {in_layout.count + gap}")]
        if k.chance(0.4):
            pair = [("const " + element, f"{base} + {count + gap}"), (element, base)]
        source, target = k.pointer(*pair[0]), k.pointer(*pair[1])
    elif alias == "mixed":
        base = k.allocate(element, 2 * count)
        source, target = k.pointer("const " + element, f"{base} + 1"), k.pointer(element, base)
    else:
        base = k.allocate(element, count)
        source, target = k.pointer("const " + element, base), k.pointer(element, base)
    factor = "2 * " if alias == "mixed" else ""

    g.open()
    k.line("unsigned v = 1;")
    for _ in range(k.number(1, 2)):
        choice = k.random.random()
        if choice < 0.5:
            places = g.neighbour() if alias not in ("same",) else {}
            read = f"{source}[{factor}({in_layout.at(places)})]"
            k.line(f"v = v * 5 + number({read});")
        elif choice < 0.8:
            k.line(f"v = v * 3 + {g.side_read()};")
        else:
            g.loop_read()
    if alias != "none" and k.chance(0.3):
        k.launches = 2
    if alias == "none" and in_layout is out_layout and not cell and k.chance(0.5):
        k.launches = k.number(2, 3)
        parameters = dict((declaration.split("*")[1].strip(), argument) for declaration, argument in k.parameters if "*" in declaration)
        if k.chance(0.7):
            k.swap = (parameters[source], parameters[target])
    store(k, g, element, target, factor, out_layout, planes, interleaved)
    g.close()
    if "exact" not in g.modes and not out_layout.flipped and not in_layout.flipped:
        for c in g.coordinates:
            if k.chance(0.4) and c.size > 12:
                k.vary(c.end, c.size - k.number(1, 4))
        k.wider, k.used_axes = k.chance(0.2), g.axes
    between(k, element, source, target)


def store(k, g, element, target, factor, layout, planes, interleaved):
    index = f"{factor}({layout.at()})"
    member, value = "", f"Element<{element}>::of(v)"
    if element == "Cell":
        name = k.random.choice(list(CELL_MEMBERS))
        member, value = f".{name}", f"Element<{CELL_MEMBERS[name]}>::of(v)"
    if planes > 1:
        end = k.signed_scalar(planes)
        at = f"({index}) * {end} + k" if interleaved else f"({index}) + k * {k.scalar(layout.count)}"
        stop = k.pick("", "", "", f"if ((v + k) % 5 == 1) {k.pick('break', 'continue')};", f"if (k > {g.coordinates[0].name} % 3) break;")
        if k.chance(0.3):
            k.line(f"{element}* to = {target} + ({index}){f' * {end}' if interleaved else ''};",
                   f"for (int k = 0; k < {end}; ++k) {{", f"(*to){member} = {value};",
                   f"to += {'1' if interleaved else layout.count};", "v += 7;", "}")
        else:
            k.line(f"for (int k = 0; k < {end}; ++k) {{", f"{stop}", f"{target}[{at}]{member} = {value};", "v = v * 9 + 1;", "}")
        return
    place = f"{target}[{index}]{member}"
    form = k.number(0, 8)
    if form <= 2:
        k.line(f"{place} = {value};")
    elif form == 3:
        k.line(f"if ((v & {k.pick(1, 3, 6)}) == {k.pick(0, 1, 2)}) {place} = {value};")
    elif form == 4:
        k.line(f"if ({g.extra_condition()[0]}) {{", f"{place} = {value};", "} else {", "v += 77;", f"{place} = {value};", "}")
    elif form == 5:
        k.line(f"v += number({place});", f"{place} = {value};")
    elif form == 6:
        other = k.array(element, layout.count, const=False)
        k.line(f"if ({g.extra_condition()[0]}) {{", f"{target}[{index}]{member} = {value};", "} else {", f"{other}[{layout.at()}]{member} = {value};", "}")
    elif form == 7:
        c = g.coordinates[0]
        k.line(f"switch ({c.name} % 4) {{", f"case 0: {place} = {value}; break;", f"case 2: v ^= 3; {place} = {value}; break;",
               f"default: if (v % 3) {place} = {value};", "}")
    else:
        other = k.array(element, layout.count, const=False)
        k.line(f"{element}* const to = {k.pick(f'{g.coordinates[0].name} & 1', 'v & 4')} ? {target} + ({index}) : {other} + ({layout.at()});", f"(*to){member} = {value};")


def between(k, element, source, target):
    """What the host does between launches and behind them."""
    arguments = dict((d.split("*")[1].strip(), a) for d, a in k.parameters if "*" in d)
    argument = arguments[target]
    for lines in (k.between, k.after):
        if k.chance(0.2):
            lines.append(f"run.look({argument} + {k.number(0, 4)}, {k.number(1, 9)} * sizeof({element}));")
        if k.chance(0.1):
            lines.append(f"check(cudaMemset({argument} + {k.number(0, 4)}, {k.number(0, 9)}, {k.number(1, 30)}), \"fill\");")
        if k.chance(0.15):
            lines.append(f"check(cudaMemcpy({argument} + {k.number(0, 9)}, run.numbers(8).data(), {k.number(1, 32)}, cudaMemcpyHostToDevice), \"copy\");")
        if k.chance(0.15) and arguments[source].split()[0] != argument.split()[0]:
            lines.append(f"check(cudaMemcpy({argument} + 1, {arguments[source]} + {k.number(0, 2)}, {k.number(1, 20)}, cudaMemcpyDeviceToDevice), \"copy\");")
