#!/usr/bin/env python3
"""Copies captures as if many hosts had recorded them.

    fleet.py FOLDER NUMBER CAPTURE...

Writes NUMBER captures into FOLDER, copies of the CAPTUREs in turn. Each has a host name of its own, `host-N`, and those with
the feature CLOCK_DATA were recorded on one of four days. All must be little-endian files of perf record.
"""
import pathlib
import struct
import sys

HOSTNAME, CLOCK_DATA = 3, 29
DAY = 86_400_000_000_000
# 1 November 2026.
FIRST_DAY = 20_758 * DAY


def sections(capture):
    """The offset and the size of each feature."""
    assert capture[:8] == b"PERFILE2", "not a little-endian file"
    data, size = struct.unpack_from("<2Q", capture, 40)
    words = struct.unpack_from("<4Q", capture, 72)
    bits = [bit for bit in range(256) if words[bit // 64] >> (bit % 64) & 1]
    return {bit: struct.unpack_from("<2Q", capture, data + size + 16 * at) for at, bit in enumerate(bits)}


def copy(capture, number):
    """The capture as a host recorded it."""
    capture = bytearray(capture)
    features = sections(capture)
    offset, size = features[HOSTNAME]
    room = struct.unpack_from("<I", capture, offset)[0]
    name = f"host-{number:03}".encode()
    assert len(name) < room <= size - 4, "no room for the name"
    capture[offset + 4 : offset + 4 + room] = name.ljust(room, b"\0")
    if CLOCK_DATA in features:
        offset, _ = features[CLOCK_DATA]
        struct.pack_into("<Q", capture, offset + 8, FIRST_DAY + number % 4 * DAY + number * 60_000_000_000)
    return capture


def make(folder, number, captures):
    contents = [pathlib.Path(capture).read_bytes() for capture in captures]
    made = []
    for at in range(number):
        made.append(pathlib.Path(folder) / f"{at:03}.data")
        made[-1].write_bytes(copy(contents[at % len(contents)], at))
    return made


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
