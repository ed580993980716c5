#!/usr/bin/env python3
"""Tests of perf_script_d.py on the captures: python3 test_perf_script_d.py

The tests need perf. They make the dumps that they compare with perf: one by a
separate walk over a capture, the others from perf's hex dump. The latter show
whether perf's text and perf's bytes agree as the check decodes them.
"""

import contextlib
import copy
import io
import json
import pathlib
import re
import struct
import sys
import unittest

sys.dont_write_bytecode = True

import perf_script_d as check  # noqa: E402

CAPTURES = pathlib.Path(__file__).resolve().parent.parent / "captures"
UNREADABLE = {"killed.data"}  # perf refuses a capture whose data size is 0


def plain_dump(path):
    """A dump of a capture of one event with sample type IP|TID|TIME."""
    data = path.read_bytes()
    at, size = struct.unpack_from("<QQ", data, 40)
    end, out = at + size, []
    while at < end:
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        one = {"offset": at, "type": f"UNKNOWN_{kind}", "type_id": kind, "misc": misc, "size": size, "fields": {}}
        body, tail = at + 8, at + size - 16
        if kind == check.SAMPLE:
            one["type"] = "SAMPLE"
            one["event"] = 0
            one["fields"] = dict(zip(("ip", "pid", "tid", "time"), struct.unpack_from("<QiiQ", data, body)))
        elif kind < check.FIRST_USER_TYPE:
            one["sample_id"] = dict(zip(("pid", "tid", "time"), struct.unpack_from("<iiQ", data, tail)))
        if kind == check.COMM:
            pid, tid = struct.unpack_from("<ii", data, body)
            comm = data[body + 8 : tail].rstrip(b"\0").decode()
            one.update(type="COMM", fields={"pid": pid, "tid": tid, "comm": comm})
        elif kind == check.EXIT:
            names = ("pid", "ppid", "tid", "ptid", "time")
            one.update(type="EXIT", fields=dict(zip(names, struct.unpack_from("<iiiiQ", data, body))))
        elif kind == check.MMAP:
            one["type"] = "MMAP"
            one["fields"] = dict(zip(("pid", "tid", "addr", "len", "pgoff"), struct.unpack_from("<iiQQQ", data, body)))
            one["fields"]["filename"] = data[body + 32 : tail].rstrip(b"\0").decode()
        elif kind == check.MMAP2:
            names = "pid tid addr len pgoff maj min ino ino_generation prot flags".split()
            one.update(type="MMAP2", fields=dict(zip(names, struct.unpack_from("<iiQQQIIQQII", data, body))))
            one["fields"]["filename"] = data[body + 64 : tail].rstrip(b"\0").decode()
        else:
            names = {68: "FINISHED_ROUND", 69: "ID_INDEX", 73: "THREAD_MAP", 74: "CPU_MAP", 82: "FINISHED_INIT"}
            one["type"] = names.get(kind, one["type"])
        out.append(one)
        at += size
    return out


def echo(attrs, said):
    """A dump of what the checker itself reads in perf's hex dump."""
    kind, misc, size = said.header
    out = {"offset": said.offset, "type": said.name, "type_id": kind, "misc": misc, "size": size}
    if kind == check.SAMPLE:
        text, events = check.sample_text(said, misc)
        index = next(i for i, attr in enumerate(attrs) if len(attrs) == 1 or attr.name == events[0])
        kinds = attrs[index].sample | ({"TRANSACTION"} if "transaction" in text else set())
        out.update(event=index, fields=check.sample_bytes(said.data, attrs[index], kinds))
    elif kind < check.FIRST_USER_TYPE:
        end = size
        if attrs[0].id_all:
            out["sample_id"], end = check.trailer_bytes(said.data, attrs[0])
        out["fields"] = check.record_bytes(said.data, kind, misc, end, attrs[0])
    return out


def changed(dump, path):
    """`dump` with the leaf at `path` another number or string."""
    dump = copy.deepcopy(dump)
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]
    place = dump
    for step in steps[:-1]:
        place = place[step]
    value = place[steps[-1]]
    place[steps[-1]] = value + "x" if isinstance(value, str) else value ^ 1
    return dump


class OnCaptures(unittest.TestCase):
    def captures(self):
        for path in sorted(CAPTURES.iterdir()):
            if path.name not in UNREADABLE:
                yield path.name, *check.ask_perf("perf", str(path))

    def test_agrees_with_an_independent_walk(self):
        path = CAPTURES / "plain.data"
        attrs, said = check.ask_perf("perf", str(path))
        dump = [json.loads(json.dumps(one)) for one in plain_dump(path)]
        result = check.compare(attrs, said, dump)
        self.assertEqual(result.differences, [])
        self.assertEqual(result.records, len(dump))
        samples = sum(one["type"] == "SAMPLE" for one in dump)
        for field in ("ip", "pid", "tid", "time"):
            self.assertEqual(result.compared[f"SAMPLE.{field}", "text"], samples)
            self.assertEqual(result.compared[f"SAMPLE.{field}", "bytes"], samples)

    def test_text_and_bytes_of_perf_agree(self):
        for name, attrs, said in self.captures():
            result = check.compare(attrs, said, [echo(attrs, one) for one in said])
            self.assertEqual(result.differences, [], name)
            self.assertEqual(result.records, len(said), name)

    def test_every_field_is_compared(self):
        seen = set()
        for _, attrs, said in self.captures():
            for one in said:
                dump = echo(attrs, one)
                for path, _ in check.leaves(dump):
                    shape = (one.name, re.sub(r"\d+", "", path))
                    if path.endswith(".len") or path == "offset" or shape in seen:
                        continue
                    if path == "event" and one.header[0] != check.SAMPLE:
                        continue
                    seen.add(shape)
                    found = check.compare(attrs, [one], [changed(dump, path)]).differences
                    self.assertTrue(found, f"{one.name}: {path} changed and not noticed")
        self.assertGreater(len(seen), 150)

    def test_missing_additional_and_shortened_are_noticed(self):
        attrs, said = check.ask_perf("perf", str(CAPTURES / "callchain.data"))
        dump = [echo(attrs, one) for one in said]
        sample = next(one for one in dump if one["type"] == "SAMPLE" and one["fields"]["callchain"])
        for damage in (
            lambda: dump.remove(sample),
            lambda: dump.append({**sample, "offset": 8}),
            lambda: sample["fields"].pop("ip"),
            lambda: sample["fields"]["callchain"].pop(),
            lambda: sample["fields"].update(cgroup=0),
            lambda: sample.update(error="bad"),
        ):
            kept, fields = list(dump), copy.deepcopy(sample)
            damage()
            self.assertTrue(check.compare(attrs, said, dump).differences)
            dump[:] = kept
            sample.clear()
            sample.update(fields)
        self.assertEqual(check.compare(attrs, said, dump).differences, [])

    def test_nothing_compared_fails(self):
        attrs, _ = check.ask_perf("perf", str(CAPTURES / "plain.data"))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(check.report(check.compare(attrs, [], []), 20, out), 1)

    def test_what_perf_cannot_read_fails(self):
        with self.assertRaises(check.Bad):
            check.ask_perf("perf", str(CAPTURES / "killed.data"))


if __name__ == "__main__":
    unittest.main()
