#!/usr/bin/env python3
"""Decodes what `perfdata export --to perfetto` writes with Perfetto's own messages, and checks it.

    perfetto.py PERFDATA [CAPTURE...]

Needs the package perfetto; a folder that has it may be named by $PERFETTO_PROTO. Checks that no message has a field that the
package does not know or that is encoded in another way; that packets refer only to what their sequence has had before, as trace
processor reads them; that clocks, CPUs and times are such that it drops nothing; that each thread with a sample has a name; that
the numbers of samples and the sums of the counters are those of `perfdata report`, and the switches those of `perfdata script`.
Without captures, reads ../captures, ../synthetic, ../unwind and ../sched.

Exits with 0 if all is so, with 1 if not, and with 3 if the package is not there.
"""
import collections
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys

sys.path[:0] = filter(None, [os.environ.get("PERFETTO_PROTO")])
try:
    from google.protobuf import unknown_fields
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
except ImportError as error:
    print(f"not run: perfetto is not there: {error}")
    sys.exit(3)

HERE = pathlib.Path(__file__).resolve().parent
TABLES = "function_names frames callstacks build_ids mapping_paths source_paths mappings".split()
# SEQ_INCREMENTAL_STATE_CLEARED and SEQ_NEEDS_INCREMENTAL_STATE.
CLEARED, NEEDS = 1, 2
# Trace processor ends with an error at events of another CPU.
CPUS = 1024
BOOTTIME = 6


def run(*words, may_fail=False):
    done = subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL)
    # 3: the capture is damaged, and was read.
    assert may_fail or done.returncode in (0, 3), f"{words}: {done.returncode}: {done.stderr[:500]}"
    return done.stdout


def known(message):
    """Checks that a message, and all in it, has only fields that the package knows."""
    assert not len(unknown_fields.UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for it in value if field.is_repeated else [value]:
                known(it)


class Sequence:
    """What a sequence has had so far."""

    def __init__(self, packet):
        assert packet.sequence_flags == CLEARED
        timebase = packet.trace_packet_defaults.perf_sample_defaults.timebase
        assert timebase.name and timebase.WhichOneof("event")
        self.event = timebase.name
        self.interned = {table: {} for table in TABLES}
        self.used = {table: set() for table in TABLES}
        self.counted = {}
        self.sums = [0, 0]

    def intern(self, data):
        for field, entries in data.ListFields():
            assert field.name in TABLES, field.name
            table = self.interned[field.name]
            for entry in entries:
                assert entry.iid and entry.iid not in table, f"{field.name}: {entry}"
                table[entry.iid] = entry
        for stack in data.callstacks:
            assert stack.frame_ids
            for frame in map(lambda iid: self.get("frames", iid), stack.frame_ids):
                mapping = self.get("mappings", frame.mapping_id)
                assert frame.HasField("rel_pc")
                address = (frame.rel_pc - mapping.exact_offset + mapping.start) % 2**64
                assert not mapping.end or mapping.start <= address <= mapping.end, f"{frame}{mapping}"
                assert len(mapping.path_string_ids) == 1
                assert self.get("mapping_paths", mapping.path_string_ids[0]).str
                for table, iid in (
                    ("build_ids", mapping.build_id),
                    ("function_names", frame.function_name_id),
                    ("source_paths", frame.source_path_iid),
                ):
                    assert not iid or self.get(table, iid).str

    def get(self, table, iid):
        self.used[table].add(iid)
        return self.interned[table][iid]

    def sample(self, packet):
        assert packet.sequence_flags == NEEDS
        self.intern(packet.interned_data)
        sample = packet.perf_sample
        if sample.HasField("callstack_iid"):
            self.get("callstacks", sample.callstack_iid)
        counted = sample.timebase_count
        period = (counted - self.counted.get(sample.cpu, 0)) % 2**64
        self.counted[sample.cpu] = counted
        self.sums[0] += 1
        self.sums[1] = (self.sums[1] + period) % 2**64


def check(name, trace):
    """Checks a trace. Returns the sums, {event: (samples, period)}, and the numbers of events of the scheduler."""
    sequences, named, sched, last = {}, set(), collections.Counter(), 0
    snapshot = trace.packet[0].clock_snapshot
    clocks = [clock.clock_id for clock in snapshot.clocks]
    assert len(set(clocks)) == len(clocks) and snapshot.primary_trace_clock in clocks, f"{name}: {snapshot}"
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id
        kind = packet.WhichOneof("data")
        if packet.first_packet_on_sequence:
            assert packet.trusted_packet_sequence_id not in sequences
            sequences[packet.trusted_packet_sequence_id] = Sequence(packet)
        elif kind == "perf_sample":
            assert packet.timestamp >= last, f"{name}: {packet}"
            last = packet.timestamp
            sequences[packet.trusted_packet_sequence_id].sample(packet)
            tid, pid = packet.perf_sample.tid, packet.perf_sample.pid
            assert (pid, tid) in named or max(pid, tid) >= 2**31, f"{name}: {packet}"
        elif kind == "process_tree":
            processes = {it.pid for it in packet.process_tree.processes}
            named |= {(it.tgid, it.tid) for it in packet.process_tree.threads if it.HasField("name")}
            assert processes <= {it.tgid for it in packet.process_tree.threads}
        elif kind == "ftrace_events":
            assert BOOTTIME in clocks and packet.ftrace_events.cpu < CPUS, f"{name}: {clocks}"
            times = [it.timestamp for it in packet.ftrace_events.event]
            assert times and times == sorted(times)
            sched.update(it.WhichOneof("event") for it in packet.ftrace_events.event)
        else:
            assert kind in ("clock_snapshot", "system_info"), f"{name}: {packet}"
    sums = {}
    for sequence in sequences.values():
        assert sequence.sums[0]
        for table in TABLES:
            assert sequence.used[table] == set(sequence.interned[table]), f"{name}: {table} has unused entries"
        samples, period = sums.get(sequence.event, (0, 0))
        sums[sequence.event] = samples + sequence.sums[0], (period + sequence.sums[1]) % 2**64
    return sums, sched


def compare(perfdata, capture):
    """Compares a capture. Returns the numbers of sums and of switches."""
    written = run(perfdata, "export", "--to", "perfetto", "-o", "-", capture)
    trace = protos.Trace.FromString(written)
    known(trace)
    # Fields that are encoded in another way, such as packed numbers, are written differently.
    again = protos.Trace.FromString(trace.SerializeToString())
    assert again == trace and len(trace.SerializeToString()) == len(written), f"{capture.name}: another encoding"
    sums, sched = check(capture.name, trace)
    words = "report --no-group --no-branch-stack --format json --sort pid -g none --no-symbols".split()
    expected = {}
    for table in json.loads(run(perfdata, *words, capture))["tables"]:
        total = table["totals"][0]
        samples, period = expected.get(table["name"], (0, 0))
        expected[table["name"]] = samples + total["samples"], (period + total["period"]) % 2**64
    expected = {event: total for event, total in expected.items() if total[0]}
    assert sums == expected, f"{capture.name}: {sums}, not {expected}"
    switches = run(perfdata, "script", "-F", "event", capture, may_fail=True).count(b"sched:sched_switch")
    assert sched["sched_switch"] == switches, f"{capture.name}: {sched}, not {switches} switches"
    return len(sums), switches


def main():
    perfdata = pathlib.Path(sys.argv[1]).resolve()
    folders = [HERE.parent / folder for folder in ("captures", "synthetic", "unwind", "sched")]
    found = [it for folder in folders for it in sorted(folder.iterdir()) if it.suffix in (".data", ".dir")]
    captures = [pathlib.Path(it) for it in sys.argv[2:]] or found
    with multiprocessing.Pool() as pool:
        found = pool.starmap(compare, [(perfdata, capture) for capture in captures])
    sums, switches = map(sum, zip(*found))
    assert sums
    print(f"perfetto: {sums} sums and {switches} switches of {len(captures)} captures are equal")


if __name__ == "__main__":
    main()
