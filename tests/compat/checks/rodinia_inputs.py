#!/usr/bin/env python3
"""Small inputs for Rodinia's programs, whose own are not handed out with their sources.

  rodinia_inputs.py keys FILE COMMANDS     b+tree: 10,000 keys, and the two searches
  rodinia_inputs.py mesh FILE              cfd: 32 x 32 cells of one layer in a flow, with a wall behind
  rodinia_inputs.py text FILE              huffman: 256 KiB of letters, the frequent ones first
  rodinia_inputs.py image FILE WIDTH       dwt2d: WIDTH x WIDTH pixels of three smooth colours
  rodinia_inputs.py records FILE LIST      nn: 2,000 hurricanes, and the list of files that names this one
  rodinia_inputs.py points FILE            kmeans: 2,000 points of 8 features around five centres
  rodinia_inputs.py matrix FILE SIZE       gaussian: its size, its rows with a strong diagonal, and the right side
  rodinia_inputs.py numbers FILE COUNT LOW HIGH    hotspot: temperatures, or power
  rodinia_inputs.py graph FILE             bfs: 4,096 nodes of six edges each
  rodinia_inputs.py video FILE FRAMES      heartwall: uncompressed grey frames with a slowly moving pattern
"""

import math
import pathlib
import random
import struct
import sys


def keys(path, commands):
    numbers = list(range(1, 10001))
    random.Random(7).shuffle(numbers)
    pathlib.Path(path).write_text("\n".join(str(number) for number in [len(numbers), *numbers]) + "\n")
    pathlib.Path(commands).write_text("j 600 300\nk 1000\n")


def mesh(path, side=32):
    """Each cell: its area, then four neighbours with the outward normal; 0 is the wall, -2 the far field."""
    lines = [str(side * side)]
    for row in range(side):
        for column in range(side):
            texts = ["1.0"]
            for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                x, y = column + across, row + down
                if 0 <= x < side and 0 <= y < side:
                    neighbour = y * side + x + 1
                else:
                    neighbour = 0 if x == side and side <= 4 * y < 3 * side else -2
                texts.append(f"{neighbour} {across}.0 {down}.0 0.0")
            lines.append(" ".join(texts))
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def text(path, size=1 << 18):
    letters = random.Random(7)
    pathlib.Path(path).write_bytes(bytes(97 + min(25, int(letters.expovariate(0.3))) for _ in range(size)))


def image(path, width):
    width = int(width)
    pixels = bytearray()
    for y in range(width):
        for x in range(width):
            for colour in range(3):
                pixels.append(int(128 + 60 * math.sin((x + 7 * colour) / 9) + 60 * math.cos(y / 13)))
    pathlib.Path(path).write_bytes(pixels)


def records(path, listing):
    chosen = random.Random(7)
    lines = []
    for number in range(2000):
        head = f"{1950 + number % 60} {number % 12 + 1:2d} {number % 28 + 1:2d} {number % 24:2d} {number % 9:2d} STORM{number:05d}"
        line = f"{head:<28.28}{chosen.uniform(7, 60):5.1f}{chosen.uniform(10, 99):5.1f}"
        lines.append(f"{line:<48}")
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    pathlib.Path(listing).write_text(path + "\n")


def points(path):
    chosen = random.Random(7)
    centres = [[chosen.uniform(0, 100) for _ in range(8)] for _ in range(5)]
    lines = []
    for number in range(2000):
        features = (f"{value + chosen.gauss(0, 3):.4f}" for value in centres[number % 5])
        lines.append(f"{number} " + " ".join(features))
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def matrix(path, size):
    chosen = random.Random(7)
    size = int(size)
    rows = [[chosen.uniform(-1, 1) + (size if x == y else 0) for x in range(size)] for y in range(size)]
    rows.append([chosen.uniform(-10, 10) for _ in range(size)])
    lines = [" ".join(f"{value:.4f}" for value in row) for row in rows]
    pathlib.Path(path).write_text("\n\n".join([str(size), "\n".join(lines[:-1]), lines[-1]]) + "\n")


def numbers(path, count, low, high):
    chosen = random.Random(7)
    lines = [f"{chosen.uniform(float(low), float(high)):.6f}" for _ in range(int(count))]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def graph(path, size=4096, degree=6):
    """Each node: its first edge and how many; the source; each edge: where to, and a cost nobody asks for."""
    chosen = random.Random(7)
    lines = [str(size), *(f"{node * degree} {degree}" for node in range(size)), "", "0", "", str(size * degree)]
    lines += [f"{chosen.randrange(size)} {chosen.randint(1, 10)}" for _ in range(size * degree)]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def video(path, frames, width=656, height=744):
    """AVI: one stream of 8-bit frames. Heartwall reads the first width x height bytes of each."""
    def chunk(name, data):
        return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    frames = int(frames)
    size = width * height
    main_header = struct.pack("<14I", 40000, size * 25, 0, 0x10, frames, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vids" + b"GREY" + struct.pack("<10I", 0, 0, 0, 1, 25, 0, frames, size, 0xFFFFFFFF, 0) + struct.pack("<4H", 0, 0, width, height)
    bitmap = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, size, 0, 0, 256, 0)
    palette = b"".join(bytes((grey, grey, grey, 0)) for grey in range(256))
    header = b"hdrl" + chunk(b"avih", main_header)
    header += chunk(b"LIST", b"strl" + chunk(b"strh", stream) + chunk(b"strf", bitmap + palette))
    movie, index, offset = b"movi", b"", 4
    rows = [[int(110 + 50 * math.sin(x / 11) * math.cos(y / 17) + (x * 7 + y * 13) % 23) for x in range(width)]
            for y in range(height)]
    for frame in range(frames):
        pixels = b"".join(bytes(row[-frame:] + row[:-frame] if frame else row) for row in rows)
        movie += chunk(b"00db", pixels)
        index += b"00db" + struct.pack("<3I", 0x10, offset, size)
        offset += size + 8
    body = b"AVI " + chunk(b"LIST", header) + chunk(b"LIST", movie) + chunk(b"idx1", index)
    pathlib.Path(path).write_bytes(chunk(b"RIFF", body))


MAKERS = {maker.__name__: maker for maker in (keys, mesh, text, image, records, points, matrix, numbers, graph, video)}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in MAKERS:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    MAKERS[sys.argv[1]](*sys.argv[2:])
