#!/usr/bin/env python3
"""Decodes what `perfdata export --to otlp` writes with OpenTelemetry's own messages, protobuf and JSON, and checks it.

    otlp.py PERFDATA [CAPTURE...]

Needs the package opentelemetry-proto; a folder that has it may be named by $OTLP_PROTO. Checks that protobuf and JSON are the
same message, without fields that the package does not know; that all indices are in their tables, the first entry of each
table is empty, and no entry is there twice or unused; that addresses are in their mappings, and times in their profiles; and
that the sums of the values are those of `perfdata report`. Without captures, reads ../captures, ../synthetic and ../unwind.

Exits with 0 if all is so, with 1 if not, and with 3 if the package is not there.
"""
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = filter(None, [os.environ.get("OTLP_PROTO")])
try:
    from google.protobuf import json_format, unknown_fields
    from opentelemetry.proto.profiles.v1development import profiles_pb2
except ImportError as error:
    print(f"not run: opentelemetry-proto is not there: {error}")
    sys.exit(3)

HERE = pathlib.Path(__file__).resolve().parent


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    # 3: the capture is damaged, and was read.
    assert done.returncode in (0, 3), f"{words}: {done.returncode}: {done.stderr[:500]}"
    return done.stdout


def known(message):
    """Checks that a message, and all in it, has only fields that the package knows."""
    assert not len(unknown_fields.UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for it in value if field.is_repeated else [value]:
                known(it)


def check(name, data):
    """Checks a message. Returns the sums, {(event, 1 for the number of samples): total}, and the number of samples with a time."""
    tables = data.dictionary
    lists = {field.name: getattr(tables, field.name) for field in tables.DESCRIPTOR.fields}
    used = {name: {0} for name in lists}

    def get(table, index):
        assert 0 <= index < len(lists[table]), f"{name}: {table}[{index}]"
        used[table].add(index)
        return lists[table][index]

    for table, entries in lists.items():
        assert not (entries[0] if table == "string_table" else entries[0].ListFields()), f"{name}: {table}[0]"
        bytes_of = [it if table == "string_table" else it.SerializeToString() for it in entries]
        assert len(set(bytes_of)) == len(bytes_of), f"{name}: {table} has an entry twice"

    def attributes(indices):
        keys = [get("string_table", get("attribute_table", index).key_strindex) for index in indices]
        assert len(set(keys)) == len(keys) and "" not in keys, f"{name}: {keys}"
        return keys

    sums, times = {}, 0
    for resource in data.resource_profiles:
        for scope in resource.scope_profiles:
            assert scope.scope.name == "perfdata" and scope.scope.version
            # Two of each event: what it counted, and the number of samples.
            for number, profile in enumerate(scope.profiles):
                start, end = profile.time_unix_nano, profile.time_unix_nano + profile.duration_nano
                event = get("string_table", profile.period_type.type_strindex)
                get("string_table", profile.period_type.unit_strindex)
                kind = get("string_table", profile.sample_type.type_strindex)
                assert kind == ("samples" if number % 2 else event), f"{name}: {kind} of {event}"
                get("string_table", profile.sample_type.unit_strindex)
                identities = set()
                for sample in profile.samples:
                    get("stack_table", sample.stack_index)
                    keys = attributes(sample.attribute_indices)
                    assert keys[:3] == ["process.pid", "thread.id", "thread.name"], keys
                    identities.add((sample.stack_index, frozenset(sample.attribute_indices)))
                    stamps = sample.timestamps_unix_nano
                    assert len(sample.values) == (len(stamps) or 1), f"{name}: {sample}"
                    assert all(start <= time < end for time in stamps), f"{name}: {sample}"
                    times += len(stamps)
                    key = event, number % 2
                    sums[key] = sums.get(key, 0) + sum(sample.values)
                assert len(identities) == len(profile.samples), f"{name}: a sample is there twice"
    for index in sorted(used["stack_table"]):
        for location in lists["stack_table"][index].location_indices:
            get("location_table", location)
    for index in sorted(used["location_table"]):
        location = lists["location_table"][index]
        mapping = get("mapping_table", location.mapping_index)
        if location.mapping_index:
            assert mapping.memory_start <= location.address <= mapping.memory_limit, f"{name}: {location}"
        attributes(location.attribute_indices)
        for line in location.lines:
            assert line.function_index, f"{name}: {location}"
            get("function_table", line.function_index)
    for index in sorted(used["mapping_table"]):
        get("string_table", lists["mapping_table"][index].filename_strindex)
        attributes(lists["mapping_table"][index].attribute_indices)
    for index in sorted(used["function_table"]):
        function = lists["function_table"][index]
        for text in (function.name_strindex, function.system_name_strindex, function.filename_strindex):
            get("string_table", text)
    for table, entries in lists.items():
        assert used[table] == set(range(len(entries))), f"{name}: {table} has unused entries"
    return sums, times


def compare(perfdata, capture):
    """Compares a capture. Returns the number of sums, and of values with a time."""
    compared = 0
    with tempfile.TemporaryDirectory() as work:
        out = pathlib.Path(work)
        for name in ("otlp", "json"):
            run(perfdata, "export", "--to", "otlp", "-o", out / f"it.{name}", capture)
        data = profiles_pb2.ProfilesData.FromString((out / "it.otlp").read_bytes())
        known(data)
        same = json_format.Parse((out / "it.json").read_text(), profiles_pb2.ProfilesData())
        assert data == same, f"{capture.name}: JSON and protobuf differ"
        sums, times = check(capture.name, data)
        words = ("report", "--no-group", "--no-branch-stack", "--format", "json")
        words += ("--sort", "pid", "-g", "none", "--no-symbols")
        expected = {}
        for table in json.loads(run(perfdata, *words, capture))["tables"]:
            total = table["totals"][0]
            for key, value in (((table["name"], 1), "samples"), ((table["name"], 0), "period")):
                expected[key] = expected.get(key, 0) + total[value]
        for key, value in expected.items():
            assert (sums.get(key, 0) - value) % 2**64 == 0, f"{capture.name} {key}: {sums.get(key, 0)}, not {value}"
            compared += value > 0
    return compared, times


def main():
    perfdata = pathlib.Path(sys.argv[1]).resolve()
    folders = [HERE.parent / folder for folder in ("captures", "synthetic", "unwind")]
    found = [it for folder in folders for it in sorted(folder.iterdir()) if it.suffix in (".data", ".dir")]
    captures = [pathlib.Path(it) for it in sys.argv[2:]] or found
    with multiprocessing.Pool() as pool:
        found = pool.starmap(compare, [(perfdata, capture) for capture in captures])
    compared, with_time = map(sum, zip(*found))
    assert compared
    print(f"opentelemetry-proto: {compared} sums of {len(captures)} captures are equal; {with_time} values have a time")


if __name__ == "__main__":
    main()
