"""One random kernel: its text, its memory, its launches."""

import random

TYPES = {"float": 4, "double": 8, "int": 4, "unsigned char": 1, "short": 2, "long long": 8, "float4": 16, "int2": 8,
         "Triple": 12, "Bytes3": 3, "Cell": 24}
CELL_MEMBERS = {"a": "unsigned char", "b": "int", "c": "double", "d": "short"}

SHARED = "shared"  # the launch must be shared out over several devices
HOST = "host"      # it must not
EITHER = "either"  # right both ways


class Kernel:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed * 7919 + 13)
        self.kind = ""
        self.expect = SHARED
        self.globals = []
        self.memory = []      # host lines that allocate
        self.parameters = []  # (declaration, argument)
        self.fields = []      # (declaration, argument) of the struct parameter
        self.body = []
        self.grid = (1, 1, 1)
        self.block = (1, 1, 1)
        self.dynamic_bytes = 0
        self.launches = 1
        self.swap = None      # two arguments that change places at every other launch
        self.other = {}       # what other parameters are then
        self.used_axes = "xyz"
        self.wider = False    # whether there are more blocks then
        self.between = []     # host lines between launches
        self.after = []
        self.count = 0

    # chances

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self, low, high):
        return self.random.randint(low, high)

    def element(self):
        return self.pick("float", "float", "float", "double", "int", "int", "unsigned char", "short", "long long", "float4",
                         "int2", "Triple", "Bytes3")

    # memory and parameters

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def allocate(self, kind, count):
        name = self.name("m")
        self.memory.append(f"{kind}* {name} = run.make<{kind}>({count});")
        return name

    def indices(self, count, end):
        name = self.name("m")
        self.memory.append(f"int* {name} = run.make_indices({count}, {end});")
        return self.pointer("const int", name)

    def pointer(self, kind, argument):
        name = self.name("p")
        self.parameters.append((f"{kind}* {name}", argument))
        return name

    def array(self, kind, count, const=True):
        """A parameter that points to memory of its own, perhaps not to the beginning."""
        before = self.pick(0, 0, 0, 1, 5, 37)
        name = self.allocate(kind, before + count + self.pick(0, 0, 3))
        return self.pointer(("const " if const else "") + kind, f"{name} + {before}" if before else name)

    def scalar(self, value, kind=None):
        """A literal, or a parameter that is it."""
        if kind is None:
            kind = self.pick("literal", "int", "int", "int", "unsigned", "long long", "size_t", "field")
        if kind == "literal":
            return str(value)
        if kind == "field":
            name = self.name("n")
            self.fields.append((f"{self.pick('int', 'unsigned', 'long long')} {name}", str(value)))
            return f"s.{name}"
        name = self.name("n")
        self.parameters.append((f"{kind} {name}", str(value)))
        return name

    def vary(self, name, value):
        """Every other launch has another value of a scalar that is a parameter."""
        if any(declaration.split()[-1] == name for declaration, _ in self.parameters):
            self.other[name] = str(value)

    def signed_scalar(self, value):
        return self.scalar(value, self.pick("literal", "int", "int"))

    def table(self, count):
        """Numbers in a variable of the device that kernels only read."""
        name = self.name(f"table{self.seed}_")
        self.globals.append(f"{self.pick('__constant__', '__device__')} unsigned {name}[{count}];")
        self.memory.append(f"check(cudaMemcpyToSymbol({name}, run.numbers({count}).data(), {count} * 4), \"symbol\");")
        if self.chance(0.5):
            self.between.append(self.memory[-1])
        return name

    def line(self, *lines):
        self.body += lines

    # text

    def threads_wait(self):
        """Whether threads have to do with others of their block while they run."""
        return any("_sync" in line or "__syncthreads" in line or "__shared__" in line for line in self.body)

    def signature(self):
        parameters = list(self.parameters)
        if self.fields:
            parameters.append((f"Sizes{self.seed} s", None))
        return parameters

    def text(self):
        lines = [f"// {self.kind}, {self.expect}"] + self.globals
        if self.fields:
            lines += [f"struct Sizes{self.seed} {{"] + [f"  {field};" for field, _ in self.fields] + ["};"]
        declarations = ", ".join(declaration for declaration, _ in self.signature())
        lines += [f"__global__ void seed{self.seed}_kernel({declarations}) {{"]
        lines += [f"  {line}" for line in self.body] + ["}"]
        return lines + self.host_text() + [""]

    def host_text(self):
        lines = [f"static void run{self.seed}(bool dump) {{", f"  Run run({self.seed}, dump);"]
        lines += [f"  {line}" for line in self.memory]
        for launch in range(self.launches):
            grid = tuple(n + 1 for n in self.grid) if self.wider and launch % 2 == 1 else self.grid
            if self.wider and len(self.used_axes) < 3:
                grid = tuple(n if axis in self.used_axes else 1 for axis, n in zip("xyz", grid))
            sizes = ", ".join(f"dim3({', '.join(str(n) for n in size)})" for size in (grid, self.block))
            arguments = []
            for declaration, argument in self.signature():
                if launch % 2 == 1:
                    argument = self.other.get(declaration.split()[-1], argument)
                if argument is None:
                    argument = f"Sizes{self.seed}{{{', '.join(value for _, value in self.fields)}}}"
                arguments.append(argument)
            if self.swap and launch % 2 == 1:
                one, other = self.swap
                arguments = [{one: other, other: one}.get(argument, argument) for argument in arguments]
            lines.append(f"  LAUNCH(seed{self.seed}_kernel, {sizes}, {self.dynamic_bytes}, {', '.join(arguments)});")
            if launch + 1 < self.launches:
                lines += [f"  {line}" for line in self.between]
        return lines + [f"  {line}" for line in self.after] + ["  run.finish();", "}"]
