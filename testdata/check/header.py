#!/usr/bin/env python3
"""Compares the features of `perfdata dump --format jsonl FILE` with the output of perf.

usage: header.py [--perf PERF] --perfdata PROGRAM FILE...

Converts our JSON to the lines that `perf report --header-only -I` prints, and to
the entries that `perf buildid-list` prints. perf must print the same lines, no
more and no fewer. Only the name and the ids of an event are compared; other
checks compare its attr.

Exit status: 0 if all agrees, with the number of lines compared; 1 with the lines
that differ.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

# Lines that perf prints about the file and its header, not about features.
NOT_FEATURES = re.compile(
    r"# (=+|captured on|header version|data offset|data size|feat offset|$|Core ID and|Socket ID|Die ID)|#$"
)
EVENT = re.compile(r"# event : name = (.*?), (?:, id = \{ (.*?) \})?.*")
# The features that perf 6.1 knows and reports if they are missing.
NAMES = (
    "TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID TOTAL_MEM CMDLINE EVENT_DESC "
    "CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS GROUP_DESC AUXTRACE STAT CACHE SAMPLE_TIME MEM_TOPOLOGY "
    "CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF COMPRESSED CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS"
).split()
CLOCKS = {0: "realtime", 1: "monotonic", 4: "monotonic_raw", 7: "boottime"}


def simple(label):
    return lambda value, _: [f"# {label} : {value}"]


def nr_cpus(value, _):
    return [
        f"# nrcpus online : {value['nr_cpus_online']}",
        f"# nrcpus avail : {value['nr_cpus_available']}",
    ]


def cmdline(words, _):
    return ["# cmdline : " + "".join(word.replace("'", "\\'") + " " for word in words)]


def event_desc(events, _):
    return [f"# event : {event['name']} {event['ids']}" for event in events]


def cpu_topology(value, _):
    lines = [f"# sibling sockets : {cpus}" for cpus in value["core_siblings"]]
    lines += [f"# sibling dies    : {cpus}" for cpus in value.get("die_siblings", [])]
    lines += [f"# sibling threads : {cpus}" for cpus in value["thread_siblings"]]
    for number, cpu in enumerate(value["cpus"]):
        die = f"Die ID {cpu['die_id']}, " if "die_id" in cpu else ""
        lines.append(f"# CPU {number}: Core ID {cpu['core_id']}, {die}Socket ID {cpu['socket_id']}")
    return lines


def numa_topology(nodes, _):
    lines = []
    for it in nodes:
        lines.append(f"# node{it['node']} meminfo  : total = {it['mem_total']} kB, free = {it['mem_free']} kB")
        lines.append(f"# node{it['node']} cpu list : {it['cpus']}")
    return lines


def pmu_mappings(pmus, _):
    return ["# pmu mappings: " + ", ".join(f"{it['name']} = {it['type']}" for it in pmus)]


def group_desc(groups, features):
    lines = []
    for it in groups:
        name = "" if it["name"] == "{anon_group}" else it["name"]
        first = it["leader_idx"]
        members = features["EVENT_DESC"][first : first + it["nr_members"]]
        lines.append(f"# group: {name}{{{','.join(event['name'] for event in members)}}}")
    return lines


def cache(caches, _):
    line = "#  L{level} {type:<15} {size:>8} [{map}]"
    return ["# CPU cache info:"] + [line.format(**it) for it in caches]


def sample_time(value, _):
    first, last = value["first"], value["last"]
    seconds = lambda ns: f"{ns // 10**9}.{ns % 10**9 // 1000:06}"
    return [
        f"# time of first sample : {seconds(first)}",
        f"# time of last sample : {seconds(last)}",
        f"# sample duration : {(last - first) / 1e6:10.3f} ms",
    ]


def ranges(bits):
    runs = []
    for bit in bits:
        if runs and runs[-1][1] == bit - 1:
            runs[-1][1] = bit
        else:
            runs.append([bit, bit])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def unit_number(size):
    units = iter("BKMG")
    unit = next(units)
    while size // 1024 > 1 and unit != "G":
        size, unit = size // 1024, next(units)
    return f"{size}{unit}"


def mem_topology(value, _):
    block = value["block_size_bytes"]
    lines = [f"# memory nodes (nr {len(value['nodes'])}, block size {block:#x}):"]
    for it in value["nodes"]:
        bits = [bit for bit in range(it["nbits"]) if it["bitmap"][bit // 64] >> bit % 64 & 1]
        lines.append(f"#  {it['node']:3} [{unit_number(len(bits) * block)}]: {ranges(bits)}")
    return lines


def clock_data(value, _):
    wall, clock, name = value["wall_clock_ns"], value["clockid_time_ns"], CLOCKS[value["clockid"]]
    # The wall clock is in microseconds, the other clock in nanoseconds.
    tod = f"{wall // 10**9}.{wall % 10**9 // 1000:06}"
    date = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(wall // 10**9))
    return [
        f"# clockid: {name} ({value['clockid']})",
        f"# reference time: {date}.{tod.split('.')[1]} = {tod} (TOD)"
        f" = {clock // 10**9}.{clock % 10**9:09} ({name})",
    ]


def caps(name, caps):
    return f"# {name} pmu capabilities: " + ", ".join(f"{it['name']}={it['value']}" for it in caps)


def cpu_pmu_caps(value, _):
    return [caps("cpu", value)] if value else []


def pmu_caps(pmus, _):
    return [caps(it["pmu_name"], it["caps"]) for it in pmus]


def hybrid_topology(pmus, _):
    return ["# hybrid cpu system:"] + [f"# {it['pmu_name']} cpu list : {it['cpus']}" for it in pmus]


def compressed(value, _):
    name = "Zstd" if value["type"] == 1 else "Unknown"
    return [f"# compressed : {name}, level = {value['level']}, ratio = {value['ratio']}"]


def nothing(_value, _features):
    return []


LINES = {
    "TRACING_DATA": nothing,
    "BUILD_ID": nothing,
    "HOSTNAME": simple("hostname"),
    "OSRELEASE": simple("os release"),
    "VERSION": simple("perf version"),
    "ARCH": simple("arch"),
    "NRCPUS": nr_cpus,
    "CPUDESC": simple("cpudesc"),
    "CPUID": simple("cpuid"),
    "TOTAL_MEM": lambda value, _: [f"# total memory : {value} kB"],
    "CMDLINE": cmdline,
    "EVENT_DESC": event_desc,
    "CPU_TOPOLOGY": cpu_topology,
    "NUMA_TOPOLOGY": numa_topology,
    "BRANCH_STACK": lambda *_: ["# contains samples with branch stack"],
    "PMU_MAPPINGS": pmu_mappings,
    "GROUP_DESC": group_desc,
    "AUXTRACE": lambda *_: ["# contains AUX area data (e.g. instruction trace)"],
    "STAT": lambda *_: ["# contains stat data"],
    "CACHE": cache,
    "SAMPLE_TIME": sample_time,
    "MEM_TOPOLOGY": mem_topology,
    "CLOCKID": lambda value, _: [f"# clockid frequency: {value['resolution_ns'] * 1000} MHz"],
    "DIR_FORMAT": lambda value, _: [f"# directory data version : {value['version']}"],
    "BPF_PROG_INFO": nothing,
    "BPF_BTF": nothing,
    "COMPRESSED": compressed,
    "CPU_PMU_CAPS": cpu_pmu_caps,
    "CLOCK_DATA": clock_data,
    "HYBRID_TOPOLOGY": hybrid_topology,
    "PMU_CAPS": pmu_caps,
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", check=False).stdout


def ours(perfdata, path):
    first = run(perfdata, "dump", "--format", "jsonl", path).partition("\n")[0]
    features = json.loads(first)["header"]["features"]
    lines = []
    for name, value in features.items():
        lines += LINES[name](value, features)
    missing = [name for name in NAMES if name not in features]
    lines.append("# missing features: " + "".join(name + " " for name in missing))
    lines += [f"{it['build_id']} {it['filename']}" for it in features.get("BUILD_ID", [])]
    return [line.rstrip() for line in lines], "BUILD_ID" in features


def perfs(perf, path, has_build_ids):
    lines = []
    for line in run(perf, "report", "--header-only", "-I", "--force", "-i", path).splitlines():
        event = EVENT.fullmatch(line)
        if event:
            ids = [int(id) for id in event[2].split(",")] if event[2] else []
            line = f"# event : {event[1]} {ids}"
        if line and not NOT_FEATURES.match(line):
            lines.append(line)
    # For a file without the feature, perf lists the build ids in the records.
    if has_build_ids:
        lines += run(perf, "buildid-list", "--force", "-i", path).splitlines()
    return [line.rstrip() for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--perfdata", required=True)
    parser.add_argument("files", nargs="+", metavar="FILE")
    args = parser.parse_args()
    os.environ["LC_ALL"] = "C"
    status = 0
    for path in args.files:
        one, has_build_ids = ours(args.perfdata, path)
        other = perfs(args.perf, path, has_build_ids)
        only_ours = [line for line in one if line not in other]
        only_perfs = [line for line in other if line not in one]
        print(f"{path}: {len(one)} lines, {len(only_ours) + len(only_perfs)} differ")
        for who, lines in (("perfdata", only_ours), ("perf", only_perfs)):
            for line in lines:
                print(f"  {who}: {line}")
        if only_ours or only_perfs or len(one) != len(other):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
