#!/usr/bin/env python3
"""Compares `perfdata ring` with a straight-line reading of the same dumps.

usage: ring.py --perfdata PROGRAM --attr ATTR [--snapshot FILE] RING... [-- ARGUMENT...]

Reads each dump by the offsets of struct perf_event_mmap_page, unrolls the ring,
and walks over it (from data_tail on, or from data_head on for write_backward).
Reads the fields of each record at the offsets that the sample type determines.
`perfdata ring RING... --attr ATTR --format jsonl` must print exactly these
records, with the same rings, offsets, types, sizes and fields, in time order.
It must refuse a dump that cannot be read.

With --snapshot, the samples that `perf script` prints for that perf.data must be
the samples in the rings. The perf.data was written from the same rings at the
same time.

Arguments after -- are passed on to perfdata. With --head and --tail, the dump is
a data area without its control page. ATTR is the bytes of a little-endian struct
perf_event_attr, or a perf.data. Works for Linux 4.1 and later only.

Exit status: 0 if all agrees, with the numbers of compared values; 1 if not.
"""

import argparse
import json
import re
import struct
import subprocess
import sys

DATA_HEAD = 1024  # data_tail, data_offset and data_size follow
WRITE_BACKWARD = 1 << 27
SAMPLE_ID_ALL = 1 << 18
LOST, SAMPLE, MMAP2 = 2, 9, 10


def attr_of(path):
    """Returns the sample type and the flags, which must be the same for all events."""
    data = open(path, "rb").read()
    attrs = [data]
    if data.startswith(b"PERFILE2"):
        entry, at, length = struct.unpack_from("<QQQ", data, 16)
        attrs = [data[start : start + entry] for start in range(at, at + length, entry)]
    found = {(struct.unpack_from("<Q", attr, 24)[0], struct.unpack_from("<Q", attr, 40)[0]) for attr in attrs}
    layouts = {sample_type for sample_type, _ in found}
    ways = {flags & (WRITE_BACKWARD | SAMPLE_ID_ALL) for _, flags in found}
    if len(layouts) != 1 or len(ways) != 1:
        sys.exit(f"ring.py: the events of {path} are laid out differently")
    return layouts.pop(), ways.pop()


def records_of(dump, backward, positions):
    """Returns the offset and bytes of each record; None if the ring was overwritten."""
    if positions:
        head, tail = positions
        start, size = 0, len(dump)
    else:
        head, tail, start, size = struct.unpack_from("<4Q", dump, DATA_HEAD)
    area = dump[start : start + size]
    if backward:
        at, length = head % size, min(-head % (1 << 64), size)
    else:
        at, length = tail % size, head - tail
    if length > size:
        return None
    straight = (area + area)[at : at + length]
    records, here = [], 0
    while here < length:
        record_size = struct.unpack_from("<H", straight, here + 6)[0] if here + 8 <= length else 0
        if record_size == 0 or here + record_size > length:
            break  # torn, or never written: the oldest of a backward ring
        records.append((start + (at + here) % size, straight[here : here + record_size]))
        here += record_size
    if here < length and not backward:
        sys.exit("ring.py: a forward ring ends within a record")
    return records


def take(data, at, form):
    return struct.unpack_from("<" + form, data, at), at + struct.calcsize("<" + form)


def trailer(data, sample_type):
    """The sample_id at the end of a record."""
    parts = [
        (1 << 1, "ii", ("pid", "tid")), (1 << 2, "Q", ("time",)), (1 << 6, "Q", ("id",)),
        (1 << 9, "Q", ("stream_id",)), (1 << 7, "II", ("cpu",)), (1 << 16, "Q", ("identifier",)),
    ]
    parts = [part for part in parts if sample_type & part[0]]
    at, out = len(data) - 8 * len(parts), {}
    for _, form, names in parts:
        values, at = take(data, at, form)
        out.update(zip(names, values))
    return out


def sample(data, sample_type):
    """The fields of a sample, of those that rings.sh makes."""
    at, out = 8, {}
    for bit, form, names in (
        (1 << 16, "Q", ("identifier",)), (1 << 0, "Q", ("ip",)), (1 << 1, "ii", ("pid", "tid")),
        (1 << 2, "Q", ("time",)), (1 << 3, "Q", ("addr",)), (1 << 6, "Q", ("id",)),
        (1 << 9, "Q", ("stream_id",)), (1 << 7, "II", ("cpu",)), (1 << 8, "Q", ("period",)),
    ):
        if sample_type & bit:
            values, at = take(data, at, form)
            out.update(zip(names, values))
            sample_type &= ~bit
    if sample_type & 1 << 5:
        (count,), at = take(data, at, "Q")
        words, at = take(data, at, f"{count}Q")
        out["callchain"] = list(words)
        sample_type &= ~(1 << 5)
    if sample_type:
        sys.exit(f"ring.py: sample type bits {sample_type:#x} are not known here")
    if at != len(data):
        sys.exit(f"ring.py: a sample has {len(data) - at} bytes more than its fields")
    return out


def mmap2(data):
    values, at = take(data, 8, "iiQQQIIQQII")
    names = "pid tid addr len pgoff maj min ino ino_generation prot flags".split()
    return dict(zip(names, values), filename=data[at:].split(b"\0")[0].decode())


def expected(data, sample_type, flags):
    """What a record must be shown as: of its fields, those that are compared."""
    kind, misc, size = struct.unpack_from("<IHH", data)
    out = {"type_id": kind, "misc": misc, "size": size}
    if kind == SAMPLE:
        out["fields"] = sample(data, sample_type)
    elif kind == MMAP2:
        out["fields"] = mmap2(data)
    elif kind == LOST:
        out["fields"] = dict(zip(("id", "lost"), struct.unpack_from("<QQ", data, 8)))
    else:
        sys.exit(f"ring.py: records of type {kind} are not known here")
    if kind != SAMPLE and flags & SAMPLE_ID_ALL:
        out["sample_id"] = trailer(data, sample_type)
    return out


def time_of(record):
    return record.get("sample_id", record["fields"])["time"]


def perf_samples(path):
    """Thread, time and call chain of each sample, by the text of `perf script -D`."""
    command = ["perf", "script", "-i", path, "-D", "-F", "event"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    samples, chain = [], None
    for line in text.splitlines():
        if "PERF_RECORD_" in line:
            chain = None
        if found := re.match(r"(?:\d+ )?(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(.*?\): \d+/(\d+): ", line):
            chain = []
            samples.append((int(found[2]), int(found[1]), chain))
        elif found := re.match(r"\.\.\.\.\. +\d+: ([0-9a-f]{16})$", line):
            chain.append(int(found[1], 16))
    return sorted((tid, time, tuple(chain)) for tid, time, chain in samples)


def main():
    own, handed_on = sys.argv[1:], []
    if "--" in own:
        split = own.index("--")
        own, handed_on = own[:split], own[split + 1 :]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--perfdata", required=True)
    parser.add_argument("--attr", required=True)
    parser.add_argument("--snapshot")
    parser.add_argument("rings", nargs="+")
    args = parser.parse_args(own)
    positions = None
    if "--head" in handed_on:
        positions = [int(handed_on[handed_on.index(name) + 1]) for name in ("--head", "--tail")]

    sample_type, flags = attr_of(args.attr)
    wanted, empty, unreadable = {}, [], False
    for number, path in enumerate(args.rings):
        records = records_of(open(path, "rb").read(), flags & WRITE_BACKWARD, positions)
        unreadable |= records is None
        empty += [path] if records == [] else []
        for offset, data in records or []:
            wanted[number, offset] = expected(data, sample_type, flags)

    command = [args.perfdata, "ring", "--attr", args.attr, "--format", "jsonl", *handed_on, *args.rings]
    done = subprocess.run(command, capture_output=True, text=True)
    if unreadable and not wanted:
        if done.returncode != 1 or done.stdout:
            sys.exit(f"ring.py: no ring can be read, but perfdata ended with {done.returncode}")
        print("refused, as it must be: the kernel wrote over where it began to")
        return
    if done.returncode != 0:
        sys.exit(f"ring.py: perfdata ended with {done.returncode}: {done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    shown = lines[1:-1]
    differences = []
    found = {(record.get("data_file", 0), record["offset"]): record for record in shown}
    if len(found) != len(shown):
        differences.append("records are shown twice")
    for place in sorted(found.keys() | wanted.keys()):
        if place not in found or place not in wanted:
            differences.append(f"{place}: is {'not ' if place not in found else ''}shown")
            continue
        for part, value in wanted[place].items():
            if found[place].get(part) != value:
                differences.append(f"{place}: {part}: {value} is shown as {found[place].get(part)}")
    times = [time_of(record) for record in shown]
    if times != sorted(times):
        differences.append("they are not ordered by time")
    if lines[-1]["account"]["records"] != len(wanted):
        differences.append(f"account: {lines[-1]['account']['records']} records of {len(wanted)}")

    samples = [record["fields"] for record in wanted.values() if record["type_id"] == SAMPLE]
    said = f"{len(wanted)} records, {len(samples)} samples"
    if args.snapshot:
        mine = []
        for fields in samples:
            mine.append((fields["tid"], fields["time"], tuple(fields["callchain"])))
        perfs = perf_samples(args.snapshot)
        if sorted(mine) != perfs:
            differences.append(f"perf script has {len(perfs)} samples, which are others")
        said += f", {len(perfs)} of perf script, {sum(len(chain) for *_, chain in perfs)} addresses"
    differences += [f"{path}: has no records to compare" for path in empty]
    for difference in differences[:10]:
        print(difference)
    print(f"{said}: {len(differences)} differences")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
