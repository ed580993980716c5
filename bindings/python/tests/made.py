"""A program of two functions and its capture, and a capture of Arm SPE, written byte by byte.

``made.py FILE`` writes the latter.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

# push %rbp; mov %rsp,%rbp; call second; pop %rbp; jmp -12
FIRST = bytes.fromhex("55 4889e5 e807000000 5d ebf4")
# nop; ret
SECOND = bytes.fromhex("90 c3")

# Offset of the code in the file, and its address there and in the process.
OFFSET, ADDRESS, MAP = 0x4000, 0x5000, 0x7F00_0000_0000


def program_and_capture(folder: Path) -> Path:
    """Write both; return the capture. It has four samples of ``first`` and one of ``second``, each with a period of 1000."""
    program = folder / "prog"
    program.write_bytes(elf())
    path = folder / "perf.data"
    path.write_bytes(capture_of(program, [0, 1, 1, 4, 16]))
    return path


def elf() -> bytes:
    """Return an x86-64 file with its code and symbols."""
    code = FIRST.ljust(16, b"\x90") + SECOND
    names, sections = b"\0first\0second\0", b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    # FUNC, GLOBAL, in the first section.
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, ADDRESS, len(FIRST))
    symbols += struct.pack("<IBBHQQ", 7, 0x12, 0, 1, ADDRESS + 16, len(SECOND))
    headers = bytes(64) + section(1, 1, 6, ADDRESS, OFFSET, len(code))
    headers += section(7, 2, 0, 0, 0x200, len(symbols), link=3, info=1, entry=24)
    headers += section(15, 3, 0, 0, 0x300, len(names)) + section(23, 3, 0, 0, 0x400, len(sections))
    # DYN, of x86-64; one program header, five section headers.
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, ADDRESS, 64, 0x500, 0, 64, 56, 1, 64, 5, 4)
    # LOAD, readable and executable.
    head += struct.pack("<IIQQQQQQ", 1, 5, OFFSET, ADDRESS, ADDRESS, len(code), len(code), 0x1000)
    out = bytearray(OFFSET)
    for at, part in [(0, head), (0x200, symbols), (0x300, names), (0x400, sections), (0x500, headers)]:
        out[at : at + len(part)] = part
    return bytes(out) + code


def section(
    name: int, kind: int, flags: int, address: int, offset: int, size: int, link: int = 0, info: int = 0, entry: int = 0
) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, link, info, 1, entry)


def capture_of(program: Path, places: list[int]) -> bytes:
    """Return a capture of cpu-clock with a sample at each place of the code."""
    path = bytes(program) + b"\0"
    path += bytes(-len(path) % 8)
    mapping = struct.pack("<iiQQQ", 5, 5, MAP, 0x10_0000, 0) + bytes(24) + struct.pack("<II", 5, 2) + path
    data = record(10, mapping)
    for time, place in enumerate(places):
        data += record(9, struct.pack("<QiiQQ", MAP + OFFSET + place, 5, 5, time, 1000))
    # Software, cpu-clock; address, ids, time and period.
    attr = struct.pack("<IIQQQQQIIQ", 1, 64, 0, 1000, 0x107, 0, 1 << 20, 0, 0, 0) + bytes(16)
    return file_of(attr, data)


# The type of the PMU, the id of its event, and the thread.
PMU_TYPE, ID, THREAD = 8, 5, 7


def spe_capture(path: Path) -> Path:
    """Write a capture of Arm SPE without times: 64 loads at three addresses."""
    trailer = struct.pack("<iiIIQ", THREAD, THREAD, 0, 0, ID)
    data = record(70, struct.pack("<IIQQ", 4, 0, PMU_TYPE, 0))
    data += record(3, struct.pack("<ii", THREAD, THREAD) + b"prog".ljust(8, b"\0") + trailer)
    data += record(1, struct.pack("<iiQQQ", THREAD, THREAD, 0x40_0000, 0x1_0000, 0) + b"/bin/prog".ljust(16, b"\0") + trailer)
    trace = b""
    for number in range(64):
        # Its address, a load, the address of the data, the end.
        trace += b"\xb0" + struct.pack("<Q", 0x40_0000 + number % 3 * 16)
        trace += b"\x49\x00\xb2" + struct.pack("<Q", 0x1234_5678 + number) + b"\x01"
    data += record(71, struct.pack("<QQQIiII", len(trace), 0, 0, 0, THREAD, 0, 0)) + trace
    # Address, ids, address of data, CPU, period, weight, source of data, identifier, physical address; all records have ids.
    attr = struct.pack("<IIQQQQQIIQ", PMU_TYPE, 80, 0, 1024, 0x9C18B, 0, 1 << 18, 0, 0, 0) + bytes(16)
    path.write_bytes(file_of(attr, data, [ID]))
    return path


def file_of(attr: bytes, data: bytes, ids: list[int] | None = None) -> bytes:
    """Return a capture of an event."""
    of_event = struct.pack(f"<{len(ids or [])}Q", *(ids or []))
    at_attr = 104 + len(of_event)
    attr += struct.pack("<QQ", 104 if of_event else 0, len(of_event)) if ids else b""
    head = b"PERFILE2" + struct.pack("<QQ", 104, len(attr))
    head += struct.pack("<QQQQQQ", at_attr, len(attr), at_attr + len(attr), len(data), 0, 0) + bytes(32)
    return head + of_event + attr + data


def record(kind: int, body: bytes) -> bytes:
    """Return a record of user space."""
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body


if __name__ == "__main__":
    spe_capture(Path(sys.argv[1]))
