#!/usr/bin/env python3
"""Keeps the tables of the guides equal to what the code says.

    tests/tree/tables.py check|fix [--root <root of the tree>] [--settings <program nuna_settings_table>]

A table stands between two lines, `<!-- made from <source>: <name> -->` and `<!-- end -->`. Their names:
  settings  the environment variables (runtime/base/settings.cpp), printed by the program; without it, left alone
  options   what CMake can be told (cmake/NunaOptions.cmake)
  styles    lines of each style's loop (examples/06_hpe_styles), between "// loop: begin" and "// loop: end"
Prints what differs and exits with status 1; with `fix`, writes it.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys

PAGES = {"settings": "docs/environment.md", "options": "docs/building.md", "styles": "docs/hpe-styles.md"}
STYLES = [("listing_1", "Listing 1: Contexts of their own, halos through the host's memory"),
          ("listing_2", "Listing 2: a shared Context, halos copied from device to device"),
          ("listing_3", "Listing 3: neighbours' arrays as arguments"),
          ("one_launch", "Nuna's own: one launch over all devices")]
OPTION = re.compile(r'^option\((NUNA_\w+) "([^"]*)" (\S+?)\)', re.M)
CACHED = re.compile(r'^set\((NUNA_\w+) "([^"]*)" CACHE \w+ "([^"]*)"\)', re.M)
TOP_LEVEL = {"${PROJECT_IS_TOP_LEVEL}": "ON; OFF inside another project"}


def options_table(root):
    """The options in their order in the file, with what they are if nothing is said."""
    with open(os.path.join(root, "cmake/NunaOptions.cmake"), encoding="utf-8") as file:
        text = file.read()
    found = [(match.start(), match[1], TOP_LEVEL.get(match[3], match[3]), match[2]) for match in OPTION.finditer(text)]
    found += [(match.start(), match[1], match[2] or "empty", match[3]) for match in CACHED.finditer(text)]
    declared = len(re.findall(r"^\s*option\(", text, re.M)) + len(re.findall(r"\bCACHE\b", text))
    if len(found) != declared:
        raise SystemExit(f"cmake/NunaOptions.cmake: {declared} options, but {len(found)} that stand on one line as "
                         'option(NAME "meaning" DEFAULT) or set(NAME "default" CACHE TYPE "meaning")')
    rows = [f"| `{name}` | {default} | {meaning} |" for _, name, default, meaning in sorted(found)]
    return "\n".join(["| option | default | |", "|---|---|---|"] + rows)


def loop_lines(path):
    """Lines of the host's loop: no blank ones, no comments."""
    count, inside = 0, False
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line in ("// loop: begin", "// loop: end"):
                inside = line.endswith("begin")
            elif inside and line and not line.startswith("//"):
                count += 1
    if count == 0 or inside:
        raise SystemExit(f"{path}: no loop between // loop: begin and // loop: end")
    return count


def styles_table(root):
    folder = "examples/06_hpe_styles"
    rows = [f"| {text} | [{name}.cpp](../{folder}/{name}.cpp) | {loop_lines(os.path.join(root, folder, name + '.cpp'))} |"
            for name, text in STYLES]
    return "\n".join(["| style | file | lines of the loop |", "|---|---|---|"] + rows)


def settings_table(program):
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.rstrip("\n")


def renew(path, name, table, fix):
    """True if the page has that table, or has it now."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    place = re.compile(rf"(<!-- made from [^>]*: {name} -->\n)(.*?)(<!-- end -->)", re.S)
    match = place.search(text)
    if match is None:
        print(f"{path}: no place for the table '{name}': <!-- made from <source>: {name} --> ... <!-- end -->")
        return False
    old, new = match[2], table + "\n"
    if old == new:
        return True
    if fix:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[: match.start(2)] + new + text[match.end(2):])
        print(f"{path}: renewed the table '{name}'")
        return True
    print(f"{path}: the table '{name}' differs from the code (tests/tree/check_tree.sh fix renews it):")
    print("\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), "the page", "the code", lineterm="", n=0)))
    return False


def main():
    parser = argparse.ArgumentParser(description="Keeps the tables of the guides equal to what the code says.")
    parser.add_argument("what", choices=["check", "fix"])
    parser.add_argument("--root", default=".")
    parser.add_argument("--settings", help="the program nuna_settings_table")
    arguments = parser.parse_args()
    tables = {"options": options_table(arguments.root), "styles": styles_table(arguments.root)}
    if arguments.settings:
        tables["settings"] = settings_table(arguments.settings)
    else:
        print(f"{PAGES['settings']}: not looked at, nuna_settings_table is not built")
    good = [renew(os.path.join(arguments.root, PAGES[name]), name, table, arguments.what == "fix")
            for name, table in tables.items()]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
