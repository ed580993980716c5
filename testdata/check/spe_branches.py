#!/usr/bin/env python3
"""Writes a capture with the branches of calls of hot in an AArch64 program, as Arm SPE records them.

    spe_branches.py PROGRAM CALLS OUT.data

The branches are those of hot and of the loop of main that calls it, found in objdump's text: each record has the branch, its target,
whether it was taken and predicted, and the target of the taken branch before. Each call runs the loop of hot 15 times.
"""

import re
import struct
import subprocess
import sys

PMU_TYPE, ID, TID = 8, 5, 7
LOOPS = 15


def code(program):
    """Returns the branches of hot and main: (name, address, mnemonic, target), and the entry of hot."""
    text = subprocess.run(["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", program],
                          check=True, capture_output=True, text=True).stdout
    name, found = None, {}
    for line in text.splitlines():
        start = re.match(r"([0-9a-f]+) <(\w+)>:$", line)
        if start:
            name = start[2]
            found.setdefault(name, {"entry": int(start[1], 16), "branches": []})
        branch = re.match(r"\s*([0-9a-f]+):\s+(b\.\w+|bl|ret)\b\s*([0-9a-f]*)", line)
        if branch and name:
            target = int(branch[3], 16) if branch[3] else None
            found[name]["branches"].append((int(branch[1], 16), branch[2], target))
    return found


def run(found, calls):
    """Yields the branches that run: from, to, mnemonic, whether it was taken."""
    hot, main = found["hot"], found["main"]
    (skip,), (back,), (ret,) = ([it for it in hot["branches"] if test(it)] for test in (
        lambda it: it[1].startswith("b.") and it[2] > it[0],
        lambda it: it[1].startswith("b.") and it[2] <= it[0],
        lambda it: it[1] == "ret"))
    call = next(it for it in main["branches"] if it[1] == "bl" and it[2] == hot["entry"])
    again = next(it for it in main["branches"] if it[1].startswith("b.") and it[0] > call[0])
    for number in range(calls):
        yield call[0], hot["entry"], "bl", True
        yield skip[0], skip[0] + 4, "b.", False
        for step in range(LOOPS):
            is_taken = step < LOOPS - 1
            yield back[0], back[2] if is_taken else back[0] + 4, "b.", is_taken
        yield ret[0], call[0] + 4, "ret", True
        is_taken = number < calls - 1
        yield again[0], again[2] if is_taken else again[0] + 4, "b.", is_taken


def packets(branches):
    out, before = bytearray(), 0
    for index, (address, target, mnemonic, is_taken) in enumerate(branches):
        out += bytes([0xB0]) + struct.pack("<Q", address)
        # A branch; of conditional ones bit 0 is set, of indirect ones bit 1; calls and returns have a code in bits 3 and 4.
        out += bytes([0x4A, {"bl": 0x08, "ret": 0x12, "b.": 0x01}[mnemonic]])
        events = 1 << 1 | (0 if is_taken else 1 << 6) | (1 << 7 if index % 10 == 9 else 0)
        out += bytes([0x62]) + struct.pack("<I", events)
        out += bytes([0x98]) + struct.pack("<H", 12)
        out += bytes([0xB1]) + struct.pack("<Q", target)
        if before:
            out += bytes([0xB4]) + struct.pack("<Q", before)
        out += bytes([0x01])
        before = target if is_taken else before
    return bytes(out) + bytes(-len(out) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    return text + bytes(8 - len(text) % 8)


def segment(program):
    text = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    fields = next(line for line in text.splitlines() if re.search(r"LOAD.* R E ", line)).split()
    return int(fields[1], 16), int(fields[2], 16), int(fields[5], 16)


def main():
    program, calls, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    data = packets(run(code(program), calls))
    # IP, TID, ADDR, CPU, PERIOD, WEIGHT, DATA_SRC, PHYS_ADDR and IDENTIFIER; sample_id_all, task, comm and mmap.
    sample_type = 1 | 2 | 8 | 1 << 7 | 1 << 8 | 1 << 14 | 1 << 15 | 1 << 19 | 1 << 16
    attr = struct.pack("<IIQQQQQ", PMU_TYPE, 128, 0, 1024, sample_type, 4, 1 << 18 | 1 << 13 | 1 << 9 | 1 << 8).ljust(128, b"\0")
    trailer = struct.pack("<iiIIQ", TID, TID, 0, 0, ID)
    offset, address, size = segment(program)
    page = address % 4096
    records = record(70, 0, struct.pack("<IIQQ", 4, 0, PMU_TYPE, 0))
    records += record(3, 0, struct.pack("<ii", TID, TID) + padded(b"hot") + trailer)
    name = padded(sys.argv[1].encode() if program.startswith("/") else b"/" + program.encode())
    mapping = struct.pack("<iiQQQ", TID, TID, address - page, size + page, offset - page)
    records += record(1, 2, mapping + name + trailer)
    # As much as a recorder writes at once.
    for at in range(0, len(data), 1 << 20):
        part = data[at:at + (1 << 20)]
        records += record(71, 0, struct.pack("<QQQIiII", len(part), at, 0, 0, TID, 0, 0)) + part
    records += record(68, 0, b"")
    ids = struct.pack("<Q", ID)
    attrs = attr + struct.pack("<QQ", 104, len(ids))
    start = 104 + len(ids) + len(attrs)
    features = {6: b"aarch64".ljust(64, b"\0")}
    bits = sum(1 << bit for bit in features)
    header = b"PERFILE2" + struct.pack("<QQ", 104, len(attr) + 16)
    header += struct.pack("<QQQQQQ", 104 + len(ids), len(attrs), start, len(records), 0, 0)
    header += struct.pack("<QQQQ", bits, 0, 0, 0)
    arch = struct.pack("<I", 64) + features[6]
    end = start + len(records)
    with open(path, "wb") as out:
        out.write(header + ids + attrs + records + struct.pack("<QQ", end + 16, len(arch)) + arch)


main()
