#!/usr/bin/env python3
"""format.py CAPTURE: a reader of perf.data files that has only what the book's chapter on the format states.

Prints the attrs, the feature strings, and type_id, size and offset of each record; of samples also tid, time and ip. It shares
no code with perfdata: docs/format_check.py compares the two.
"""

import json
import struct
import sys


def read_capture(data):
    magic = data[:8]
    order = {b"PERFILE2": "<", b"2ELIFREP": ">"}.get(magic) or sys.exit("no perf.data of version 2")

    def number(form, offset):
        return struct.unpack_from(order + form, data, offset)[0]

    size, attr_size = number("Q", 8), number("Q", 16)
    if size != 104:
        sys.exit("a pipe, or an old header")
    attrs_at, attrs_size, data_at, data_size = (number("Q", at) for at in (24, 32, 40, 48))

    def string(at):
        length = number("I", at)
        return data[at + 4 : at + 4 + length].split(b"\0")[0].decode()

    attrs = []
    for at in range(attrs_at, attrs_at + attrs_size, attr_size):
        ids_at, ids_size = number("Q", at + attr_size - 16), number("Q", at + attr_size - 8)
        attrs.append({
            "type": number("I", at),
            "size": number("I", at + 4),
            "config": number("Q", at + 8),
            "sample_type": number("Q", at + 24),
            "ids": [number("Q", at) for at in range(ids_at, ids_at + ids_size, 8)],
        })

    # One table entry for each bit that is set, in ascending order.
    features = {}
    entry = data_at + data_size
    for bit in range(256):
        if number("Q", 72 + bit // 64 * 8) >> bit % 64 & 1:
            features[bit] = number("Q", entry)
            entry += 16
    strings = {bit: string(features[bit]) for bit in (3, 4, 5, 6, 8, 9) if bit in features}

    def sample(at):
        sample_type = attrs[0]["sample_type"]
        if sample_type & 1 << 16:
            owner = [attr for attr in attrs if number("Q", at) in attr["ids"]]
            sample_type = owner[0]["sample_type"]
            at += 8
        fields = {}
        for bit, name, form in ((0, "ip", "Q"), (1, "pid", "I"), (1, "tid", "I"), (2, "time", "Q")):
            if sample_type & 1 << bit:
                fields[name] = number(form, at)
                at += struct.calcsize(form)
        return fields

    records = []
    at, end = data_at, data_at + data_size
    while at < end:
        kind, record_size = number("I", at), number("H", at + 6)
        record = {"offset": at, "type_id": kind, "misc": number("H", at + 4), "size": record_size}
        if kind == 9:
            record["fields"] = sample(at + 8)
        records.append(record)
        at += record_size
        # The payloads of these two come after their records.
        if kind == 66:
            at += number("I", record["offset"] + 8) + 7 & ~7
        elif kind == 71:
            at += number("Q", record["offset"] + 8)
    return {"attrs": attrs, "strings": strings, "records": records}


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print(json.dumps(read_capture(file.read())))
