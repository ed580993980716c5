#!/usr/bin/env python3
"""format_check.py PERFDATA CAPTURE...: whether format.py, which has only what the book states, reads what perfdata reads."""

import json
import subprocess
import sys

import format as book


def perfdata(program, capture):
    run = subprocess.run([program, "dump", "--format", "jsonl", capture], stdout=subprocess.PIPE, check=True)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return lines[0]["header"], [line for line in lines if "type_id" in line]


def main():
    program, captures = sys.argv[1], sys.argv[2:]
    samples = 0
    for capture in captures:
        with open(capture, "rb") as file:
            ours = book.read_capture(file.read())
        header, records = perfdata(program, capture)
        wanted = [{key: attr[key] for key in ("type", "size", "config", "sample_type")} for attr in header["attrs"]]
        found = [{key: attr[key] for key in ("type", "size", "config", "sample_type")} for attr in ours["attrs"]]
        assert found == wanted, f"{capture}: attrs: {found}, {wanted}"
        assert len(ours["records"]) == len(records), f"{capture}: {len(ours['records'])} records, {len(records)}"
        for found, wanted in zip(ours["records"], records):
            for key in ("offset", "type_id", "misc", "size"):
                assert found[key] == wanted[key], f"{capture}: {key}: {found}, {wanted}"
            for name, value in found.get("fields", {}).items():
                signed = value - (1 << 32) if name in ("pid", "tid") and value >> 31 else value
                assert wanted["fields"][name] in (value, signed), f"{capture}: {name}: {found}, {wanted}"
                samples += 1
    assert samples > 1000, "too few samples to mean anything"
    print(f"{len(captures)} captures: format.py reads the records and {samples} sample fields that perfdata reads")


main()
