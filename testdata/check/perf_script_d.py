#!/usr/bin/env python3
"""Compares `perfdata dump --format jsonl FILE` with the output of perf for FILE.

usage: perf_script_d.py [--perf PERF] [--show N] FILE (--jsonl PATH | --perfdata PROGRAM)

`perf script -D` prints a record twice: its fields as text, and its bytes as a hex
dump. Both are compared:

- text:  the fields that perf decoded and printed;
- bytes: for the fields that perf does not print (ids, raw data, stacks), a simple
  decoding of perf's hex dump. It takes the sample type and the register masks
  from `perf evlist -v`, and must consume a sample exactly.

Only the headers of perf's own records (type 64 and up) are compared. COMPRESSED
and COMPRESSED2 records are not compared, because perf prints their contents. The
file must have this machine's byte order, because perf swaps before it dumps.

Exit status: 0 if all agrees, with the number of fields compared by kind; 1 with
the first differences, or if nothing could be compared.
"""

import argparse
import collections
import json
import os
import re
import struct
import subprocess
import sys

MASK64 = (1 << 64) - 1
PIPE_HEADER = 16
FIRST_USER_TYPE = 64
COMPRESSED = (81, 83)
MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, READ, SAMPLE, MMAP2 = range(1, 11)
LOST_SAMPLES, SWITCH, SWITCH_CPU_WIDE, NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP = range(13, 20)
ITRACE_START, AUX, TEXT_POKE, AUX_OUTPUT_HW_ID = 12, 11, 20, 21
MISC_MMAP_DATA = MISC_COMM_EXEC = MISC_SWITCH_OUT = 1 << 13
MISC_BUILD_ID = MISC_PREEMPT = 1 << 14

# Every documented field of SAMPLE. It is a difference if our dump has a field that
# the sample type does not have. In other records, additional fields are ignored.
SAMPLE_FIELDS = set(
    "identifier ip pid tid time addr id stream_id cpu period read callchain raw "
    "branch_stack regs_user stack_user weight weight_struct data_src transaction "
    "regs_intr phys_addr cgroup data_page_size code_page_size aux".split()
)
BRANCH_FLAGS = (  # name, first bit, bits
    ("mispred", 0, 1), ("predicted", 1, 1), ("in_tx", 2, 1), ("abort", 3, 1), ("cycles", 4, 16),
    ("type", 20, 4), ("spec", 24, 2), ("new_type", 26, 4), ("priv", 30, 3),
)


class Bad(Exception):
    """perf's output cannot be parsed, so the comparison has no result."""


# --- perf's output -----------------------------------------------------------


class Attr:
    """The fields that `perf evlist -v` prints of an event and that determine layouts."""

    # perf omits the type and every other field if it is 0.
    LINE = re.compile(r"(.+?): (?:type: \d+, )?size: \d+(.*)")

    def __init__(self, name, rest):
        self.name = name

        def words(key):
            found = re.search(rf"\b{key}: ([A-Z][A-Z0-9_|]*)", rest)
            return set(found[1].split("|")) if found else set()

        def number(key):
            found = re.search(rf"\b{key}: (0x[0-9a-f]+|\d+)", rest)
            return int(found[1], 0) if found else 0

        self.sample = words("sample_type")
        self.read = words("read_format")
        self.branch = words("branch_sample_type")
        self.id_all = number("sample_id_all") == 1
        self.regs_user = number("sample_regs_user")
        self.regs_intr = number("sample_regs_intr")


class Said:
    """A record in perf's dump: its offset, its bytes, and the lines about it."""

    def __init__(self, name, offset, size):
        self.file, self.offset, self.size = name, offset, size
        self.data = b""
        self.prefix = []
        self.name = None
        self.rest = ""
        self.lines = []

    @property
    def header(self):
        return struct.unpack_from("<IHH", self.data)


DUMP = re.compile(r"(0x[0-9a-f]+|0)@(.+) \[(0x[0-9a-f]+)\]: event: (\d+)$")
ROW = re.compile(r"\.  [0-9a-f]{4,}: ((?: [0-9a-f]{2}){1,16})")
TEXT = re.compile(r"((?:-?\d+ )*)(0x[0-9a-f]+|0) \[(0x[0-9a-f]+)\]: PERF_RECORD_([A-Z0-9_]+)(.*)$")


def parse_dump(text):
    """The records of `perf script -D`, in the order of the dump."""
    said = []
    for line in text.split("\n"):
        if found := DUMP.match(line):
            said.append(Said(found[2], int(found[1], 16), int(found[3], 16)))
        elif not said:
            continue
        elif said[-1].name is None and (found := ROW.match(line)):
            said[-1].data += bytes.fromhex(found[1])
        elif said[-1].name is None and (found := TEXT.match(line)):
            last = said[-1]
            if (last.offset, last.size) != (int(found[2], 16), int(found[3], 16)):
                raise Bad(f"perf's text on {line!r} does not follow the dump of that record")
            last.prefix = [int(word) for word in found[1].split()]
            last.name, last.rest = found[4], found[5]
            if last.name.startswith("STAT_ROUND"):
                # perf does not end this line, so the table of perf script continues in it.
                last.name, last.rest = "STAT_ROUND", ""
        elif said[-1].name is not None:
            said[-1].lines.append(line)
    for one in said:
        if len(one.data) != one.size or one.header[2] != one.size or one.name is None:
            raise Bad(f"perf's dump of the record at {one.offset:#x} is incomplete")
    return said


def run(command):
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Bad(f"{' '.join(command)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def ask_perf(perf, path):
    listed = run([perf, "evlist", "-v", "-i", path]).decode("utf-8", "surrogateescape")
    attrs = [Attr(*found.groups()) for line in listed.splitlines() if (found := Attr.LINE.match(line))]
    # -F event: one line for each sample, with only the event's name.
    dumped = run([perf, "script", "-D", "-F", "event", "-i", path])
    said = parse_dump(dumped.decode("utf-8", "surrogateescape"))
    if not attrs or not said:
        raise Bad(f"perf lists {len(attrs)} events and dumps {len(said)} records of {path}")
    if os.path.isfile(path):
        with open(path, "rb") as file:
            place(said, file.read())
    return attrs, said


def place(said, data):
    """Converts perf's offsets to offsets in the file, and checks them."""
    if not data.startswith(b"PERFILE2") or sys.byteorder != "little":
        raise Bad("not a little-endian perf.data file on a little-endian machine")
    if struct.unpack_from("<Q", data, 8)[0] == PIPE_HEADER:
        for one in said:
            one.offset += PIPE_HEADER  # perf counts from the end of the header
    for one in said:
        there = data[one.offset : one.offset + one.size]
        if there != one.data and struct.unpack_from("<I", there.ljust(4, b"\0"))[0] not in COMPRESSED:
            raise Bad(f"perf's dump of the record at {one.offset:#x} differs from the file")


# --- perf's bytes ------------------------------------------------------------


class Cursor:
    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        if self.at > self.end:
            raise Bad("a field reaches past the record")
        return values if len(values) > 1 else values[0]

    def words(self, n):
        return [self.take("Q") for _ in range(n)]

    def hex(self, n):
        if self.at + n > self.end:
            raise Bad("a field reaches past the record")
        self.at += n
        return self.data[self.at - n : self.at].hex()

    def string(self):
        raw = self.data[self.at : self.end].split(b"\0")[0]
        return raw.decode("utf-8", "backslashreplace")


ID_FIELDS = (  # in trailer order
    ("TID", "ii", ("pid", "tid")), ("TIME", "Q", ("time",)), ("ID", "Q", ("id",)),
    ("STREAM_ID", "Q", ("stream_id",)), ("CPU", "Ii", ("cpu", None)), ("IDENTIFIER", "Q", ("identifier",)),
)


def put(out, names, values):
    values = values if isinstance(values, tuple) else (values,)
    out.update((name, value) for name, value in zip(names, values) if name)


def read_values(cursor, formats):
    out = {}

    def times():
        for word, name in (("TOTAL_TIME_ENABLED", "time_enabled"), ("TOTAL_TIME_RUNNING", "time_running")):
            if word in formats:
                out[name] = cursor.take("Q")

    def value():
        one = {"value": cursor.take("Q")} if "GROUP" in formats else {}
        one.update((word.lower(), cursor.take("Q")) for word in ("ID", "LOST") if word in formats)
        return one

    if "GROUP" in formats:
        out["nr"] = cursor.take("Q")
        times()
        out["values"] = [value() for _ in range(out["nr"])]
    else:
        out["value"] = cursor.take("Q")
        times()
        out.update(value())
    return out


def branch_stack(cursor, kinds):
    out = {}
    nr = cursor.take("Q")
    if "HW_INDEX" in kinds:
        out["hw_idx"] = cursor.take("Q")
    out["entries"] = []
    for _ in range(nr):
        entry = dict(zip(("from", "to"), cursor.take("QQ")))
        flags = cursor.take("Q")
        entry.update((name, flags >> at & (1 << bits) - 1) for name, at, bits in BRANCH_FLAGS)
        out["entries"].append(entry)
    return out


def registers(cursor, mask):
    abi = cursor.take("Q")
    return {"abi": abi, "values": cursor.words(bin(mask).count("1") if abi else 0)}


def user_stack(cursor):
    out = {"size": cursor.take("Q")}
    out["data"] = cursor.hex(out["size"])
    if out["size"]:
        out["dyn_size"] = cursor.take("Q")
    return out


def sample_bytes(data, attr, kinds):
    """The fields of a SAMPLE, in the order `perf_output_sample` writes them."""
    cursor, out = Cursor(data, 8, len(data)), {}
    weights = dict(zip(("var1_dw", "var2_w", "var3_w"), (0, 0, 0)))
    for kind, form, names in (
        ("IDENTIFIER", "Q", ("identifier",)), ("IP", "Q", ("ip",)), ("TID", "ii", ("pid", "tid")),
        ("TIME", "Q", ("time",)), ("ADDR", "Q", ("addr",)), ("ID", "Q", ("id",)), ("STREAM_ID", "Q", ("stream_id",)),
        ("CPU", "Ii", ("cpu", None)), ("PERIOD", "Q", ("period",)),
        ("READ", lambda: read_values(cursor, attr.read), ("read",)),
        ("CALLCHAIN", lambda: cursor.words(cursor.take("Q")), ("callchain",)),
        ("RAW", lambda: cursor.hex(cursor.take("I")), ("raw",)),
        ("BRANCH_STACK", lambda: branch_stack(cursor, attr.branch), ("branch_stack",)),
        ("REGS_USER", lambda: registers(cursor, attr.regs_user), ("regs_user",)),
        ("STACK_USER", lambda: user_stack(cursor), ("stack_user",)),
        ("WEIGHT", "Q", ("weight",)),
        ("WEIGHT_STRUCT", lambda: dict(zip(weights, cursor.take("IHH"))), ("weight_struct",)),
        ("DATA_SRC", "Q", ("data_src",)), ("TRANSACTION", "Q", ("transaction",)),
        ("REGS_INTR", lambda: registers(cursor, attr.regs_intr), ("regs_intr",)),
        ("PHYS_ADDR", "Q", ("phys_addr",)), ("CGROUP", "Q", ("cgroup",)),
        ("DATA_PAGE_SIZE", "Q", ("data_page_size",)), ("CODE_PAGE_SIZE", "Q", ("code_page_size",)),
        ("AUX", lambda: cursor.hex(cursor.take("Q")), ("aux",)),
    ):
        if kind in kinds:
            put(out, names, cursor.take(form) if isinstance(form, str) else form())
    if cursor.at != len(data):
        raise Bad(f"the sample type leaves {len(data) - cursor.at} bytes of the sample unread")
    return out


def trailer_bytes(data, attr):
    present = [field for field in ID_FIELDS if field[0] in attr.sample]
    cursor, out = Cursor(data, len(data) - 8 * len(present), len(data)), {}
    for _, form, names in present:
        put(out, names, cursor.take(form))
    return out, len(data) - 8 * len(present)


def mmap_bytes(cursor, kind, misc):
    out = {}
    put(out, ("pid", "tid", "addr", "len", "pgoff"), cursor.take("iiQQQ"))
    if kind == MMAP2 and misc & MISC_BUILD_ID:
        size = cursor.take("B3x")
        out["build_id"] = cursor.hex(20)[: 2 * size]
    elif kind == MMAP2:
        put(out, ("maj", "min", "ino", "ino_generation"), cursor.take("IIQQ"))
    if kind == MMAP2:
        put(out, ("prot", "flags"), cursor.take("II"))
    out["filename"] = cursor.string()
    return out


FIXED = {  # record type: form and names of what has a fixed size, then a string's name
    COMM: ("ii", "pid tid", "comm"),
    FORK: ("iiiiQ", "pid ppid tid ptid time", None),
    EXIT: ("iiiiQ", "pid ppid tid ptid time", None),
    LOST: ("QQ", "id lost", None),
    THROTTLE: ("QQQ", "time id stream_id", None),
    UNTHROTTLE: ("QQQ", "time id stream_id", None),
    AUX: ("QQQ", "aux_offset aux_size flags", None),
    ITRACE_START: ("ii", "pid tid", None),
    LOST_SAMPLES: ("Q", "lost", None),
    SWITCH: ("", "", None),
    SWITCH_CPU_WIDE: ("ii", "next_prev_pid next_prev_tid", None),
    KSYMBOL: ("QIHH", "addr len ksym_type flags", "name"),
    CGROUP: ("Q", "id", "path"),
    AUX_OUTPUT_HW_ID: ("Q", "hw_id", None),
}


def record_bytes(data, kind, misc, end, attr):
    """The fields of a kernel record other than SAMPLE; None if unknown."""
    cursor, out = Cursor(data, 8, end), {}
    if kind in FIXED:
        form, names, string = FIXED[kind]
        if form:
            put(out, names.split(), cursor.take(form))
        if string:
            out[string] = cursor.string()
    elif kind in (MMAP, MMAP2):
        out = mmap_bytes(cursor, kind, misc)
    elif kind == READ:
        put(out, ("pid", "tid"), cursor.take("ii"))
        out.update(read_values(cursor, attr.read))
    elif kind == NAMESPACES:
        put(out, ("pid", "tid", "nr"), cursor.take("iiQ"))
        out["namespaces"] = [dict(zip(("dev", "ino"), cursor.take("QQ"))) for _ in range(out.pop("nr"))]
    elif kind == BPF_EVENT:
        put(out, ("type", "flags", "id"), cursor.take("HHI"))
        out["tag"] = cursor.hex(8)
    elif kind == TEXT_POKE:
        put(out, ("addr", "old_len", "new_len"), cursor.take("QHH"))
        out["old_bytes"], out["new_bytes"] = cursor.hex(out["old_len"]), cursor.hex(out["new_len"])
    else:
        return None
    return out


# --- perf's text -------------------------------------------------------------


def groups(pattern, text, names, base=10):
    """The groups of `pattern` in `text` under their names; numbers if `base`."""
    found = re.search(pattern, text)
    if not found:
        raise Bad(f"perf's text {text!r} is not of the known form")
    return {
        name: value if base is None else int(value, base)
        for name, value in zip(names.split(), found.groups())
        if value is not None
    }


def mmap_text(said, misc):
    out = groups(r" (-?\d+)/(-?\d+): \[", said.rest, "pid tid")
    out.update(groups(r"\[(0x\w+|0)\((0x\w+|0)\) @ (0x\w+|0)", said.rest, "addr len pgoff", 16))
    protection = groups(r"\]: (\S+) ", said.rest, "p", None)["p"]
    out.update(groups(r"\]: \S+ (.*)$", said.rest, "filename", None))
    if said.header[0] == MMAP:
        if (protection == "r") != bool(misc & MISC_MMAP_DATA):
            raise Bad(f"perf's text {said.rest!r} contradicts misc {misc:#x}")
        return out
    # perf prints only the flag MAP_SHARED (1). The other flags are in the bytes.
    out["prot"] = sum(bit for bit, letter in ((1, "r"), (2, "w"), (4, "x")) if letter in protection[:3])
    if misc & MISC_BUILD_ID:
        out.update(groups(r" <([0-9a-f]*)>\]", said.rest, "build_id", None))
    else:
        out.update(groups(r" (\w+):(\w+) \d+ \d+\]", said.rest, "maj min", 16))
        out.update(groups(r" (\d+) (\d+)\]", said.rest, "ino ino_generation"))
    return out


def read_text(said):
    out = groups(r"^: (-?\d+) (-?\d+) .* (\d+)$", said.rest, "pid tid value")
    for line in said.lines:
        if found := re.match(r"\.\.\. ([a-z ]+?) *: (\d+)$", line):
            out[found[1].replace(" ", "_")] = int(found[2])
    return out


def namespaces_text(said):
    out = groups(r"^ (-?\d+)/(-?\d+) - nr_namespaces", said.rest, "pid tid")
    pairs = re.findall(r"\d+/\w+: (\d+)/(0x[0-9a-f]+|0)", " ".join(said.lines))
    out["namespaces"] = [{"dev": int(dev), "ino": int(ino, 16)} for dev, ino in pairs]
    return out


def record_text(said, misc):
    """The fields perf printed of a kernel record other than SAMPLE."""
    kind, rest = said.header[0], said.rest
    if kind in (MMAP, MMAP2):
        return mmap_text(said, misc)
    if kind == COMM:
        if rest.startswith(" exec:") != bool(misc & MISC_COMM_EXEC):
            raise Bad(f"perf's text {rest!r} contradicts misc {misc:#x}")
        out = groups(r":(-?\d+)/(-?\d+)$", rest, "pid tid")
        return {**out, **groups(r"^(?: exec)?: (.*):-?\d+/-?\d+$", rest, "comm", None)}
    if kind in (FORK, EXIT):
        return groups(r"^\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)", rest, "pid tid ppid ptid")
    if kind == LOST:
        return groups(r"^: id:(\d+): lost:(\d+)", rest, "id lost")
    if kind == LOST_SAMPLES:
        return groups(r"lost samples :(\d+)", rest, "lost")
    if kind in (SWITCH, SWITCH_CPU_WIDE):
        if (" OUT" in rest) != bool(misc & MISC_SWITCH_OUT) or ("preempt" in rest) != bool(misc & MISC_PREEMPT):
            raise Bad(f"perf's text {rest!r} contradicts misc {misc:#x}")
        names = "next_prev_pid next_prev_tid"
        return groups(r"pid/tid: +(-?\d+)/(-?\d+)", rest, names) if kind == SWITCH_CPU_WIDE else {}
    if kind == NAMESPACES:
        return namespaces_text(said)
    if kind == CGROUP:
        return {**groups(r"cgroup: (\d+)", rest, "id"), **groups(r"cgroup: \d+ (.*)$", rest, "path", None)}
    if kind == KSYMBOL:
        out = groups(r"addr (\w+) len", rest, "addr", 16)
        out.update(groups(r"len (\d+) type (\d+)", rest, "len ksym_type"))
        out.update(groups(r"flags (0x\w+|0)", rest, "flags", 16))
        return {**out, **groups(r" name (.*)$", rest, "name", None)}
    if kind == BPF_EVENT:
        return groups(r"type (\d+), flags (\d+), id (\d+)", rest, "type flags id")
    if kind == READ:
        return read_text(said)
    return {}


def page_size(text):
    if text == "N/A":
        return 0
    number, unit = re.match(r"(\d+)([BKMG]?)$", text).groups()
    return int(number) << {"": 0, "B": 0, "K": 10, "M": 20, "G": 30}[unit]


ABI = {"none": 0, "32-bit": 1, "64-bit": 2}
NUMBERS = (  # pattern of a line, field, base
    (r" \. data_src: 0x([0-9a-f]+)", "data_src", 16),
    (r" \.\. phys_addr: 0x([0-9a-f]+)", "phys_addr", 16),
    (r"\.\.\. transaction: ([0-9a-f]+)", "transaction", 16),
)


def sample_text(said, misc):
    """The fields perf printed of a SAMPLE, and the names of its event."""
    out = groups(r"^\(IP, 0x\w+\): (-?\d+)/(-?\d+): ", said.rest, "pid tid")
    if int(re.match(r"\(IP, 0x([0-9a-f]+)\)", said.rest)[1], 16) != misc:
        raise Bad(f"perf's text {said.rest!r} contradicts misc {misc:#x}")
    out.update(groups(r": (0x\w+|0) period", said.rest, "ip", 16))
    out.update(groups(r"period: (\d+)", said.rest, "period"))
    out.update(groups(r"addr: (0x\w+|0)$", said.rest, "addr", 16))
    events, registers_of = [], None
    for line in said.lines:
        for pattern, name, base in NUMBERS:
            if found := re.match(pattern, line):
                out[name] = int(found[1], base)
        if found := re.match(r"\.\.\. FP chain: nr:(\d+)", line):
            out["callchain"] = []
        elif found := re.match(r"\.\.\.\.\. +\d+: ([0-9a-f]{16})$", line):
            out["callchain"].append(int(found[1], 16))
        elif found := re.match(r"\.\.\. branch stack: nr:", line):
            out["branch_stack"] = {"entries": []}
        elif found := re.match(r"\.\.\.\.\. +\d+: ([0-9a-f]{16}) -> ([0-9a-f]{16}) (\d+) cycles", line):
            entry = {"from": int(found[1], 16), "to": int(found[2], 16), "cycles": int(found[3])}
            out["branch_stack"]["entries"].append(entry)
        elif found := re.match(r"\.\.\. (user|intr) regs: mask 0x[0-9a-f]+ ABI (\S+)", line):
            registers_of = out["regs_" + found[1]] = {"abi": ABI[found[2]], "values": []}
        elif found := re.match(r"\.\.\.\. \S+ +0x([0-9a-f]{16})$", line):
            registers_of["values"].append(int(found[1], 16))
        elif found := re.match(r"\.\.\. ustack: size (\d+), offset", line):
            out["stack_user"] = {"dyn_size": int(found[1])} if int(found[1]) else {}
        elif found := re.match(r"\.\.\. weight: (\d+)(?:,0x([0-9a-f]+),0x([0-9a-f]+))?$", line):
            if found[2] is None:
                out["weight"] = int(found[1])
            else:
                words = (int(found[1]), int(found[2], 16), int(found[3], 16))
                out["weight_struct"] = dict(zip(("var1_dw", "var2_w", "var3_w"), words))
        elif found := re.match(r" \.\. (data|code) page size: (\S+)", line):
            out[found[1] + "_page_size"] = page_size(found[2])
        elif line == "... sample_read:":
            out["read"] = {}
        elif found := re.match(r"\.\.\.\.\.\. time (enabled|running) ([0-9a-f]+)", line):
            out["read"]["time_" + found[1]] = int(found[2], 16)
        elif found := re.match(r"\.\.\.\. group nr (\d+)", line):
            out["read"].update(nr=int(found[1]), values=[])
        elif found := re.match(r"\.\.\.\.\. id ([0-9a-f]+), value ([0-9a-f]+)(?:, lost (\d+))?", line):
            value = {"id": int(found[1], 16), "value": int(found[2], 16)}
            if found[3] is not None:
                value["lost"] = int(found[3])
            out["read"]["values"].append(value) if "values" in out["read"] else out["read"].update(value)
        elif found := re.match(r"\s*(\S.*): $", line):
            events.append(found[1])
    return out, events


# --- the comparison ----------------------------------------------------------


def leaves(value, path=""):
    """Every number and string below `value`, by its path; a list's length too."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield path + ".len", len(value)
        for index, below in enumerate(value):
            yield from leaves(below, f"{path}[{index}]")
    else:
        yield path, int(value) if isinstance(value, bool) else value


def type_name(name):
    return name.removeprefix("HEADER_")


class Comparison:
    def __init__(self, attrs):
        self.attrs = attrs
        self.prefixes = [kind for kind in ("CPU", "TIME") if any(kind in attr.sample for attr in attrs)]
        self.records = 0
        self.compared = collections.Counter()
        self.differences = []

    def differ(self, offset, what):
        self.differences.append(f"{offset:#x}: {what}")

    def fields(self, at, source, expected, ours):
        """Compares each leaf of `expected` with that of `ours`."""
        have = dict(leaves(ours))
        offset, name, part = at
        for path, value in leaves(expected):
            shape = re.sub(r"\[\d+\]", "[]", path)
            self.compared[f"{name}.{part}{shape}", source] += 1
            if path not in have:
                self.differ(offset, f"{name}: {part}{path}: perf's {source} has {value}, ours has none")
            elif have[path] != value or isinstance(have[path], str) != isinstance(value, str):
                self.differ(offset, f"{name}: {part}{path}: perf's {source} has {value}, ours {have[path]}")

    def attr_of(self, said, ours, events):
        """The event of a sample: perf's if it names a single one, else ours."""
        index = ours.get("event")
        named = [i for i, attr in enumerate(self.attrs) if events and attr.name == events[0]]
        if len(self.attrs) == 1:
            named = [0]
        if len(named) == 1 and index != named[0]:
            self.differ(said.offset, f"SAMPLE: event: perf has {named[0]}, ours {index}")
        if len(named) == 1:
            self.compared["SAMPLE.event", "text"] += 1
            return self.attrs[named[0]]
        if not isinstance(index, int) or not 0 <= index < len(self.attrs):
            self.differ(said.offset, f"SAMPLE: event: {index} is none of the {len(self.attrs)} events")
            return None
        return self.attrs[index]

    def sample(self, said, misc, ours):
        text, events = sample_text(said, misc)
        attr = self.attr_of(said, ours, events)
        if attr is None:
            return
        # perf 6.1 does not name this bit in `evlist -v`, but prints the field.
        kinds = attr.sample | ({"TRANSACTION"} if "transaction" in text else set())
        expected = sample_bytes(said.data, attr, kinds)
        fields = ours.get("fields", {})
        at = (said.offset, "SAMPLE", "")
        self.fields(at, "bytes", expected, fields)
        # For fields that were not recorded, perf prints 0 or the attr's value. Skip them.
        text = {name: value for name, value in text.items() if name in expected}
        for word, value in zip(self.prefixes, said.prefix):
            if word in attr.sample:
                text[word.lower()] = value
        self.fields(at, "text", text, fields)
        for name in SAMPLE_FIELDS & set(fields) - set(expected):
            self.differ(said.offset, f"SAMPLE: {name}: not in the sample type, ours has {fields[name]}")

    def record(self, said, ours):
        kind, misc, size = said.header
        name = said.name
        self.records += 1
        at = (said.offset, name, "")
        self.fields(at, "bytes", {"type_id": kind, "misc": misc, "size": size}, ours)
        self.fields(at, "text", {"type": type_name(name)}, {"type": type_name(str(ours.get("type")))})
        if "error" in ours:
            self.differ(said.offset, f"{name}: ours could not decode it: {ours['error']}")
        if kind >= FIRST_USER_TYPE:
            return
        if kind == SAMPLE:
            self.sample(said, misc, ours)
            return
        index = ours.get("event", 0)
        attr = self.attrs[index] if isinstance(index, int) and 0 <= index < len(self.attrs) else self.attrs[0]
        end = size
        if attr.id_all:
            trailer, end = trailer_bytes(said.data, attr)
            at_trailer = (said.offset, name, "sample_id.")
            self.fields(at_trailer, "bytes", trailer, ours.get("sample_id", {}))
            prefix = {w.lower(): v for w, v in zip(self.prefixes, said.prefix) if w in attr.sample}
            self.fields(at_trailer, "text", prefix, ours.get("sample_id", {}))
        elif "sample_id" in ours:
            self.differ(said.offset, f"{name}: sample_id: the event has none, ours does")
        expected = record_bytes(said.data, kind, misc, end, attr)
        if expected is None:
            raise Bad(f"no layout for records of type {kind}")
        fields = dict(ours.get("fields", {}))
        if kind == READ and isinstance(fields.get("read"), dict):
            fields.update(fields.pop("read"))
        self.fields(at, "bytes", expected, fields)
        self.fields(at, "text", record_text(said, misc), fields)


def time_of_said(said, prefixes):
    if said.header[0] >= FIRST_USER_TYPE or "TIME" not in prefixes or len(said.prefix) != len(prefixes):
        return 0
    return said.prefix[-1] & MASK64


def time_of_ours(record):
    place = record.get("fields", {}) if record.get("type_id") == SAMPLE else record.get("sample_id", {})
    return place.get("time", 0)


def by_offset(records, offset, time):
    """Sorts records by offset; records with the same offset (in chunks, files) by time."""
    out = collections.defaultdict(list)
    for record in records:
        out[offset(record)].append(record)
    for at in out.values():
        at.sort(key=time)
    return out


def compare(attrs, said, ours):
    """Compares perf's records with the records of our dump, pair by pair."""
    result = Comparison(attrs)
    theirs = by_offset(said, lambda one: one.offset, lambda one: time_of_said(one, result.prefixes))
    mine = by_offset(
        (record for record in ours if record.get("type_id") not in COMPRESSED),
        lambda record: record.get("offset", -1),
        time_of_ours,
    )
    for offset in sorted(theirs.keys() | mine.keys()):
        perf_has, we_have = theirs.get(offset, []), mine.get(offset, [])
        if len(perf_has) != len(we_have):
            result.differ(offset, f"perf has {len(perf_has)} records here, ours {len(we_have)}")
        for one, record in zip(perf_has, we_have):
            try:
                result.record(one, record)
            except (Bad, struct.error) as reason:
                raise Bad(f"record at {offset:#x}: {reason}") from None
    return result


def parse_jsonl(text):
    """The records of our dump: the lines that are not the header or the account."""
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [line for line in lines if "header" not in line and "account" not in line]


def report(result, show, out):
    for line in result.differences[:show]:
        print(line, file=out)
    if len(result.differences) > show:
        print(f"... and {len(result.differences) - show} more differences", file=out)
    width = max((len(name) for name, _ in result.compared), default=0)
    for (name, source), count in sorted(result.compared.items()):
        print(f"  {name:{width}} {source:5} {count}", file=out)
    total = sum(result.compared.values())
    print(f"{result.records} records, {total} fields compared, {len(result.differences)} differences", file=out)
    return 0 if total and not result.differences else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", help="the capture: a file, or a folder that perf record --threads made")
    parser.add_argument("--perf", default="perf", help="the perf to ask")
    parser.add_argument("--show", type=int, default=20, help="how many differences to print")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--jsonl", help="our dump of it, already made ('-': standard input)")
    source.add_argument("--perfdata", help="our program, to make the dump with")
    options = parser.parse_args()
    try:
        if options.perfdata:
            text = run([options.perfdata, "dump", "--format", "jsonl", options.file]).decode()
        elif options.jsonl == "-":
            text = sys.stdin.read()
        else:
            with open(options.jsonl, encoding="utf-8") as file:
                text = file.read()
        result = compare(*ask_perf(options.perf, options.file), parse_jsonl(text))
    except (Bad, OSError, ValueError) as reason:
        print(f"perf_script_d.py: {reason}", file=sys.stderr)
        return 1
    return report(result, options.show, sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
