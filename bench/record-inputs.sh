#!/usr/bin/env bash
# Records the inputs of the races with the perf tool: software events and tracepoints, so that no PMU is needed.
#
#     record-inputs.sh FOLDER
#
# Needs root, perf, gcc, and about 900 MB of disk. Keeps files that already exist.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
[[ -x workload ]] || gcc -O2 -fno-omit-frame-pointer -o workload "$here/workload.c"
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing

# record NAME ARGUMENTS...: records to a temporary name, and renames the file when it is complete.
record() {
    local name=$1
    shift
    [[ -e $name ]] && return
    perf record -q -o "$name.part" "$@"
    mv "$name.part" "$name"
}

# IP, TID, TIME: 32 bytes a sample.
record a_plain_pf.data -m 8M -e page-faults -c 1 -- ./workload fault 6
# The same with CPU, PERIOD: 48 bytes.
record a_full.data -m 8M -e page-faults -c 1 -P --sample-cpu -T -- ./workload fault 5
# The same with RAW: a tracepoint.
record a_raw_sysenter.data -m 8M -e raw_syscalls:sys_enter -c 1 -- \
    dd if=/dev/zero of=/dev/null bs=1 count=900000 status=none
# Call chains by frame pointers, some 15 deep.
record b_fp.data -m 16M -g -e page-faults -c 1 -- ./workload fault 3 12
# User registers and 8 KiB of user stack.
record c_dwarf.data -m 32M --call-graph dwarf,8192 -e cpu-clock -F 8000 -- ./workload cpu 6
# Ten events, distinguished by their ids: nine that are named here, and the one that perf adds for the whole system.
record d_multi.data -m 16M -a -e cpu-clock/freq=5000/ -e task-clock/freq=5000/ -e page-faults/period=1/ \
    -e context-switches/period=1/ -e minor-faults/period=1/ -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit \
    -e sched:sched_switch -e sched:sched_wakeup -- ./workload mix 3
# Compressed.
record e_zstd.data -z -m 8M -e page-faults -c 1 -- ./workload fault 6
# As a pipe.
if [[ ! -e f_pipe.data ]]; then
    perf record -q -m 8M -e page-faults -c 1 -o - -- ./workload fault 5 >f_pipe.data.part
    mv f_pipe.data.part f_pipe.data
fi
# The whole system, with call chains. Another capture of this name, of a busier system, can be put in its place.
record g_machine.data -a -g -m 16M -e cpu-clock -F 999 -- ./workload mix 8
