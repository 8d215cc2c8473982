"""For gdb: Nuna's page faults pass by, its values are readable, and `nuna describe` tells about a pointer.

    (gdb) source PREFIX/share/nuna/gdb/nuna.py       (or: gdb -x .../nuna.py --args ./program)
    (gdb) print buffer
    (gdb) nuna describe pointer

Works with gdb 9 and later. `nuna describe`, and buffers in `print`, call a function of the program, so they need it to run
(a core dump shows the other values).
"""

import re

import gdb
import gdb.printing

# A touch of what the host does not have yet is a SIGSEGV, which Nuna's handler serves. For a genuine one the handler calls
# nuna_segmentation_fault, where gdb stops. Before the first host view there is no handler yet: `handle SIGSEGV stop print`
# finds faults of a program that gets no further.
gdb.execute("handle SIGSEGV nostop noprint pass", to_string=True)

UNKNOWN = "unknown (the program does not run)"


def ask(function, address):
    """The text that one of Nuna's C functions gives for an address."""
    try:
        text = gdb.parse_and_eval("((const char* (*)(const void*)) %s)((const void*) %d)" % (function, address))
        return text.string(errors="replace")
    except gdb.error as error:
        return "%s: %s" % (UNKNOWN, error)


def interval_text(interval):
    return "[%d, %d)" % (int(interval["begin"]), int(interval["end"]))


def members(array):
    """The elements of a std::array."""
    return array[array.type.fields()[0]]


def dims_of(value):
    return min(max(int(value["dims"]), 0), 3)


def box_text(box):
    axes = members(box["axis"])
    return " x ".join(interval_text(axes[a]) for a in range(dims_of(box)))


def extents_text(extents):
    sizes = members(extents["size"])
    return " x ".join(str(int(sizes[a])) for a in range(dims_of(extents)))


def elements_of(value):
    return str(value.type.strip_typedefs().template_argument(0))


class IntervalPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return interval_text(self.value)


class BoxPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return box_text(self.value)


class ExtentsPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return extents_text(self.value)


class ViewPrinter:
    """nuna::View: what a kernel is called with."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        sizes = self.value["extent_"]
        low, high = sizes.type.range()
        shape = " x ".join(str(int(sizes[a])) for a in range(low, high + 1))
        return "view of %s %s, element 0 at 0x%x" % (shape, elements_of(self.value), int(self.value["origin_"]))


class HostViewPrinter:
    """nuna::HostView."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "host view of %s %s, element 0 at 0x%x" % (
            box_text(self.value["box_"]), elements_of(self.value), int(self.value["view_"]["origin_"]))


class BufferPrinter:
    """nuna::Buffer: the library knows where it was created, and its size."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        handle = self.value["handle_"]
        if handle.address is None:
            return UNKNOWN
        return "%s (%s)" % (ask("nuna_describe_buffer", int(handle.address)), elements_of(self.value))


class MemoryPrinter:
    """nuna::Memory."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        device = int(self.value["device"])
        rank = "rank %d" % int(self.value["rank"])
        if device == -2:
            return rank
        return ("the host" if device == -1 else "device %d" % device) + " of " + rank


PRINTERS = {
    "Interval": IntervalPrinter,
    "Box": BoxPrinter,
    "Extents": ExtentsPrinter,
    "Memory": MemoryPrinter,
    "View": ViewPrinter,
    "HostView": HostViewPrinter,
    "Buffer": BufferPrinter,
}


class Printers(gdb.printing.PrettyPrinter):
    name_of_type = re.compile(r"^nuna::(?:v\d+::)?(\w+)(?:<.*>)?$")

    def __init__(self):
        super().__init__("nuna")

    def __call__(self, value):
        kind = value.type.strip_typedefs()
        if kind.code != gdb.TYPE_CODE_STRUCT or kind.unqualified().name is None:
            return None
        match = self.name_of_type.match(kind.unqualified().name)
        printer = PRINTERS.get(match.group(1)) if match else None
        return printer(value) if printer else None


class NunaCommand(gdb.Command):
    """Commands of the Nuna runtime."""

    def __init__(self):
        super().__init__("nuna", gdb.COMMAND_DATA, prefix=True)


class DescribeCommand(gdb.Command):
    """nuna describe EXPRESSION: what Nuna knows of the address that a pointer has, or an element, or a buffer."""

    def __init__(self):
        super().__init__("nuna describe", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("nuna describe EXPRESSION: a pointer, an element, or a buffer")
        value = gdb.parse_and_eval(argument)
        if value.type.code in (gdb.TYPE_CODE_REF, getattr(gdb, "TYPE_CODE_RVALUE_REF", gdb.TYPE_CODE_REF)):
            value = value.referenced_value()
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_STRUCT and re.match(r"^nuna::(v\d+::)?Buffer<", kind.unqualified().name or ""):
            print(ask("nuna_describe_buffer", int(value["handle_"].address)))
            return
        if kind.code == gdb.TYPE_CODE_PTR or (kind.code == gdb.TYPE_CODE_INT and value.address is None):
            print(ask("nuna_describe", int(value)))
        elif value.address is not None:
            print(ask("nuna_describe", int(value.address)))
        else:
            raise gdb.GdbError("nuna describe: '%s' has no address" % argument)


class GenuineFault(gdb.Breakpoint):
    """Stops at a fault that is the program's own, two frames below it and the signal's."""

    def __init__(self):
        super().__init__("nuna_segmentation_fault", internal=True)
        self.silent = True

    def stop(self):
        frame = gdb.newest_frame()
        while frame is not None and frame.type() != gdb.SIGTRAMP_FRAME:
            frame = frame.older()
        place = frame.older() if frame is not None else None
        where = place.find_sal() if place is not None else None
        line = " at %s:%d" % (where.symtab.filename, where.line) if where is not None and where.symtab else ""
        print("nuna: a segmentation fault of the program's own%s (backtrace shows it below the signal handler)" % line)
        return True


gdb.printing.register_pretty_printer(None, Printers(), replace=True)
NunaCommand()
DescribeCommand()
GenuineFault()
