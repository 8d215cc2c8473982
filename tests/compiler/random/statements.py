"""Random statements: assignments, and control flow around more of them. What threads do together is in collectives.py."""

from collectives import Collectives
from expressions import Expressions, stored, zero
from program import TYPE_NAMES, Loop, Node, Variable


class Statements:
    def __init__(self, program):
        self.p = program
        self.rng = program.rng
        self.expressions = Expressions(program)
        self.collectives = Collectives(program, self)

    def several(self, place, most=5):
        """A scope: variables made in it are forgotten behind it."""
        visible = len(self.p.variables), len(self.p.local_arrays)
        made = []
        for _ in range(self.rng.randint(1, most)):
            if self.p.budget <= 0 and made:
                break
            self.p.budget -= 1
            node = self.one(place)
            if node is not None:
                made.append(node)
        del self.p.variables[visible[0]:]
        del self.p.local_arrays[visible[1]:]
        return made

    def one(self, place):
        weighted = [(self.assign, 8), (self.declare, 2), (self.own_memory, 3), (self.local_array, 2),
                    (self.collectives.count, 3)]
        if place.depth < 5:
            weighted += [(self.branch, 4), (self.counted_loop, 4), (self.other_loop, 2), (self.strided_loop, 3), (self.choice, 1), (self.closure, 1)]
        if place.mask:
            weighted += [(self.collectives.warp_value, 6), (self.collectives.warp_exchange, 2)]
            if place.depth < 5:
                weighted += [(self.masked_branch, 4), (self.masked_loop, 2), (self.warp_branch, 2), (self.collectives.meet_in_arms, 2)]
        if place.converged:
            weighted += [(self.collectives.block_exchange, 6), (self.collectives.vote, 2), (self.collectives.reduce, 2),
                         (self.collectives.call, 1), (self.collectives.ping_pong, 1), (self.collectives.read_counts, 1)]
            if place.mask == "mk":
                weighted.append((self.end_some, 1))
        if place.loop is not None:
            weighted.append((self.leave_loop, 3))
        makers, weights = zip(*weighted)
        return self.rng.choices(makers, weights)[0](place)

    # --- values ---

    def assignable(self, place, types="ufl"):
        return [v for v in self.p.variables
                if not v.fixed and v.type in types and (place.converged or not v.uniform)]

    def target(self, place, types="ufl", divergent=False):
        found = [v for v in self.assignable(place, types) if not (divergent and v.uniform)]
        return self.rng.choice(found)

    def assign(self, place):
        target = self.target(place)
        value = self.expressions.of(target.type, place, self.rng.randint(1, 3), target.uniform)
        if target.type == "f":
            return Node(self.p, f"{target.name} = tame({value});")
        return Node(self.p, f"{target.name} {self.rng.choice(['=', '=', '+=', '^=', '-='])} {value};")

    def declare(self, place):
        type_ = self.rng.choice("uufl")
        uniform = self.p.maybe(0.3)
        value = stored(type_, self.expressions.of(type_, place, 2, uniform))
        variable = Variable(self.p.fresh("v"), type_, uniform)
        self.p.variables.append(variable)
        return Node(self.p, f"{TYPE_NAMES[type_]} {variable.name} = {value};", needed=True)

    def own_memory(self, place):
        """The thread's own place in memory of the block or of the device."""
        fit = [a for a in self.p.arrays if a.name not in place.readable | place.warp_readable]
        if fit and self.p.maybe(0.6):
            array = self.rng.choice(fit)
            value = self.expressions.of("u" if array.type == "c" else array.type, place)
            return Node(self.p, f"{array.name}[lin] = {stored(array.type, value)};")
        if self.p.maybe(0.3):
            return Node(self.p, f"out_f[gid] = tame({self.expressions.real(place)});")
        slot = self.rng.choice(["gid", "total + gid"])
        return Node(self.p, f"out_u[{slot}] {self.rng.choice(['=', '+=', '^='])} {self.expressions.integer(place)};")

    def local_array(self, place):
        found = [a for a in self.p.local_arrays if a[1] in "uf"]
        if not found or self.p.maybe(0.2):
            name, type_, count = self.p.fresh("a"), self.rng.choice("uuf"), self.rng.choice([2, 3, 8, 13])
            value = stored(type_, self.expressions.of(type_, place, 1))
            self.p.local_arrays.append((name, type_, count))
            return Node(self.p, [f"{TYPE_NAMES[type_]} {name}[{count}];",
                                 f"for (int q = 0; q < {count}; ++q) {name}[q] = {value};"], needed=True)
        name, type_, count = self.rng.choice(found)
        bump = [f for f in self.p.functions if f.arguments == "pu"]
        if type_ == "u" and bump and self.p.maybe(0.3):
            return Node(self.p, f"{bump[0].name}({name}, {count}u, {self.expressions.integer(place, 1)});")
        value = stored(type_, self.expressions.of(type_, place))
        return Node(self.p, f"{name}[{self.expressions.index(place, False)} % {count}u] = {value};")

    def closure(self, place):
        target = self.target(place, "u", divergent=True)
        capture = self.rng.choice(["=", "&"])
        name = self.p.fresh("f")
        body = self.expressions.integer(place)
        change = f"{target.name} += x; " if capture == "&" else ""
        return Node(self.p, [f"auto {name} = [{capture}](unsigned x) {{ {change}return x * 7u + {body}; }};",
                             f"{target.name} = {name}({self.expressions.integer(place, 1)});"])

    # --- branches ---

    def branch(self, place):
        uniform = self.p.maybe(0.5)
        condition = self.expressions.condition(place, 1, uniform)
        loop = place.loop
        if uniform:
            inner = place.inside()
        else:
            inner = place.inside(converged=False, mask="", whole_warp=False,
                                 loop=loop if loop is not None and loop.kind == "plain" else None)
        return self.two_ways(condition, inner, inner, [])

    def two_ways(self, condition, then, other, before):
        yes = self.several(then)
        tail = "}"
        if self.p.maybe(0.5):
            second = Node(self.p, "} else {", self.several(other), needed=True)
            # The branch that follows `else` lies in the same braces.
            return Node(self.p, before + [f"if ({condition}) {{"], yes + [second], tail)
        return Node(self.p, before + [f"if ({condition}) {{"], yes, tail)

    def masked_branch(self, place):
        """Lanes part, and know who is with them."""
        if self.p.maybe(0.3):
            bits = self.rng.choice([1, 5, 8, 16, 17, 24, 31])
            low = (1 << bits) - 1
            then = place.inside(converged=False, mask=f"({place.mask} & {low}u)", whole_warp=False, loop=None)
            other = place.inside(converged=False, mask=f"({place.mask} & ~{low}u)", whole_warp=False, loop=None)
            return self.two_ways(f"lane < {bits}u", then, other, [])
        mask, yes = self.p.fresh("m"), self.p.fresh("b")
        before = [f"const bool {yes} = {self.expressions.condition(place)};",
                  f"const unsigned {mask} = __ballot_sync({place.mask}, {yes});"]
        then = place.inside(converged=False, mask=mask, whole_warp=False, loop=None)
        other = place.inside(converged=False, mask=f"({place.mask} & ~{mask})", whole_warp=False, loop=None)
        return self.two_ways(yes, then, other, before)

    def warp_branch(self, place):
        """Whole warps part."""
        inner = place.inside(converged=False)
        if place.loop is not None and place.loop.kind == "uniform":
            inner = place.inside(converged=False, loop=None)
        condition = self.rng.choice(["lin / 32u == 0u", "(lin / 32u) & 1u", "lin / 32u == 1u", "lin >= 32u"])
        if self.p.maybe(0.4):
            yes = self.p.fresh("b")
            vote = self.rng.choice(["__any_sync", "__all_sync"])
            before = [f"const bool {yes} = {vote}({place.mask}, {self.expressions.condition(place)}) != 0;"]
            return self.two_ways(yes, inner, inner, before)
        return self.two_ways(condition, inner, inner, [])

    def choice(self, place):
        uniform = self.p.maybe(0.5)
        inner = place.inside(loop=None) if uniform else place.inside(converged=False, mask="", whole_warp=False, loop=None)
        cases = []
        for label in ["case 0: {", "case 1: {", "default: {"]:
            cases.append(Node(self.p, label, self.several(inner, 2), self.rng.choice(["} break;", "} break;", "}"]), needed=True))
        return Node(self.p, f"switch ({self.expressions.integer(place, 1, uniform)} % 4u) {{", cases, "}")

    # --- loops ---

    def counted_loop(self, place):
        counter = self.p.fresh("i")
        uniform = self.p.maybe(0.6)
        if uniform:
            count = str(self.rng.randint(1, 4)) if self.p.maybe(0.5) else f"(int)({self.expressions.integer(place, 1, True)} % 5u)"
            loop = Loop("uniform", place.readable) if place.converged or place.mask else Loop("plain")
            inner = place.inside(loop=loop)
        else:
            count = f"(int)({self.expressions.integer(place, 1)} % 6u)"
            inner = place.inside(converged=False, mask="", whole_warp=False, loop=Loop("plain"))
        bound = self.p.fresh("n")
        variable = Variable(f"(unsigned){counter}", "u", uniform, fixed=True)
        self.p.variables.append(variable)
        children = self.several(inner)
        self.p.variables.remove(variable)
        type_ = self.rng.choice(["int", "unsigned"])
        head = [f"{{ const int {bound} = {count};",
                f"for ({type_} {counter} = 0; {counter} < ({type_}){bound}; ++{counter}) {{"]
        if self.p.maybe(0.2):
            head = [f"{{ const int {bound} = {count};", f"for (int {counter} = {bound} - 1; {counter} >= 0; --{counter}) {{"]
        return Node(self.p, head, children, "} }")

    def strided_loop(self, place):
        """The threads share the rounds: of a block, of a row of it, or of the grid."""
        inner = place.inside(converged=False, mask="", whole_warp=False, loop=Loop("plain"))
        counter = self.p.fresh("i")
        start, stride = self.rng.choice([("lin", "T"), ("threadIdx.x", "blockDim.x"), ("threadIdx.y", "blockDim.y"),
                                         ("gid", "total"), ("threadIdx.x * 2u", "2u * blockDim.x"),
                                         ("threadIdx.x + blockDim.x * threadIdx.y", "T")])
        type_ = self.rng.choice(["int", "unsigned", "unsigned long long"])
        rounds = self.rng.choice(["T", "total", "T * 3u", f"({stride} * 2u + {self.rng.randrange(40)}u)"])
        bound = f"({type_})({rounds} + ({self.expressions.integer(place, 1, True)} & {self.rng.choice([7, 63])}u))"
        variable = Variable(f"(unsigned){counter}", "u", False, fixed=True)
        self.p.variables.append(variable)
        children = self.several(inner, 3)
        self.p.variables.remove(variable)
        compare = self.rng.choice(["<", "<", "<="])
        head = f"for ({type_} {counter} = {start}; {counter} {compare} {bound}; {counter} += {stride}) {{"
        if type_ == "int" and self.p.maybe(0.3):
            head = f"for (int {counter} = {bound} - 1 - (int)({start}); {counter} >= 0; {counter} -= {stride}) {{"
        return Node(self.p, head, children, "}")

    def other_loop(self, place):
        """while and do-while on a value that shrinks."""
        uniform = self.p.maybe(0.5)
        if uniform:
            loop = Loop("uniform", place.readable) if place.converged or place.mask else Loop("plain")
            inner = place.inside(loop=loop)
        else:
            inner = place.inside(converged=False, mask="", whole_warp=False, loop=Loop("plain"))
        name = self.p.fresh("w")
        start = f"unsigned {name} = {self.expressions.integer(place, 1, uniform)} & {self.rng.choice([7, 31, 63])}u;"
        variable = Variable(name, "u", uniform, fixed=True)
        self.p.variables.append(variable)
        if self.p.maybe(0.5):
            children = self.several(inner)
            head, tail = [f"{{ {start}", f"while ({name} != 0u) {{", f"  {name} >>= 1;"], "} }"
        else:
            children = self.several(inner)
            head, tail = [f"{{ {start}", f"do {{ {name} /= 3u;"], f"}} while ({name} != 0u); }}"
        self.p.variables.remove(variable)
        return Node(self.p, head, children, tail)

    def masked_loop(self, place):
        """Lanes leave one after the other; those that stay know who stayed."""
        mask, counter, count, body = (self.p.fresh(x) for x in ("m", "i", "n", "m"))
        inner = place.inside(converged=False, mask=body, whole_warp=False, loop=Loop("masked", count=count))
        variable = Variable(counter, "u", False, fixed=True)
        head = [f"{{ unsigned {mask} = {place.mask}; unsigned {count} = {self.expressions.integer(place, 1)} % 5u;",
                f"for (unsigned {counter} = 0u;; ++{counter}) {{",
                f"  {mask} = __ballot_sync({mask}, {counter} < {count});",
                f"  if (!({counter} < {count})) break;",
                f"  unsigned {body} = {mask};"]
        self.p.variables.append(variable)
        children = self.several(inner)
        self.p.variables.remove(variable)
        return Node(self.p, head, children, "} }")

    def leave_loop(self, place):
        loop = place.loop
        how = self.rng.choice(["break", "continue"])
        if loop.kind == "plain":
            return Node(self.p, f"if ({self.expressions.condition(place)}) {how};")
        if loop.kind == "uniform":
            wait = "__syncthreads(); " if place.readable != loop.readable else ""
            if place.warp_readable and place.mask:
                wait += f"__syncwarp({place.mask}); "
            condition = self.expressions.condition(place, 1, True)
            return Node(self.p, f"if ({condition}) {{ {wait}{how}; }}")
        yes = self.p.fresh("b")
        lines = [f"const bool {yes} = {self.expressions.condition(place)};"]
        lines.append(f"{place.mask} = __ballot_sync({place.mask}, !{yes});")
        # Lanes that are on their way to the next iteration wait there for these, which therefore leave from there, too.
        leave = f"{{ {loop.count} = 0u; continue; }}" if how == "break" else "continue;"
        return Node(self.p, lines + [f"if ({yes}) {leave}"])

    def end_some(self, place):
        """Some threads end for good."""
        yes = self.p.fresh("b")
        return Node(self.p, [f"const bool {yes} = {self.expressions.condition(place)} && (lin % 3u) == 1u;",
                             f"mk = __ballot_sync(mk, !{yes});",
                             f"if ({yes}) {{ out_u[gid] += {self.expressions.integer(place, 1)}; return; }}"])


def first_values(statements, place, count):
    """Variables that live as long as the kernel."""
    made = []
    for _ in range(count):
        type_ = statements.rng.choice("uuuffl")
        uniform = statements.p.maybe(0.3)
        value = stored(type_, statements.expressions.of(type_, place, 2, uniform)) if statements.p.maybe(0.8) else zero(type_)
        variable = Variable(statements.p.fresh("x"), type_, uniform)
        made.append(Node(statements.p, f"{TYPE_NAMES[type_]} {variable.name} = {value};", needed=True))
        statements.p.variables.append(variable)
    return made
