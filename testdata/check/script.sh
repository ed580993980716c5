#!/usr/bin/env bash
# Compares `perfdata script` with `perf script`: each capture with each set of fields and options.
#
#     script.sh PERFDATA PERF [CAPTURE...]
#
# Without captures, compares all of ../captures and ../synthetic. Exits with 0 if every output is the same, or differs
# as the table below says. Prints each other difference, and at the end how many comparisons there were.
set -u

if [ $# -lt 2 ]; then
    echo "usage: script.sh PERFDATA PERF [CAPTURE...]" >&2
    exit 2
fi
perfdata=$1 perf=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- "$here"/captures/* "$here"/synthetic/*

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The options of one comparison on each line. They leave out sym, which perfdata does not resolve yet.
options() {
    cat <<'END'
-F comm,pid,tid,cpu,time,event
-F comm,tid,time,period,event,ip,dso -G
-F comm,pid,time,ip,dso
-F ip -G
-F tid,misc,time --ns
-F tid,addr
-F tid,addr,dso
-F tid,data_src,weight
-F tid,ins_lat
-F tid,iregs
-F tid,uregs
-F ip,dso,iregs,uregs -G
-F tid,brstack
-F tid,brstack,dso
-F tid,brstacksym
-F tid,brstackoff,dso
-F tid,brstackoff
-F tid,phys_addr
-F tid,data_page_size,code_page_size
-F event,bpf-output
-F tid,event,tod
-F tid,tod --ns
-F machine_pid,vcpu,comm
-F tid,event,flags
-F flags
-F -sym,-symoff,-trace -G
-F +flags,+misc,-sym,-symoff,-trace -G
-F sw:comm,tid,time
-F comm,time --reltime
-F comm,time --deltatime
-F comm,time,ip --max-stack 2
-F comm,tid,time --time 10%/2
-F comm,tid,time --time 0%-30%
-F comm,tid,time --time 10%/1,10%/3
-F comm,tid,time --time 20%
-F comm,tid,time --comms workload,perf
-F comm,tid,time,cpu --cpu 0
-F comm,tid,time,cpu --cpu 1-3
-F comm,tid,time,ip,dso --dsos libc.so.6,workload -G
-F comm,pid,tid,time,event --show-task-events
-F comm,pid,tid,time,event --show-mmap-events
-F comm,pid,tid,time,event --show-task-events --show-mmap-events --show-switch-events --show-lost-events --show-namespace-events --show-cgroup-events --show-bpf-events
-F comm,tid --header
--header-only
END
}

# Known differences: a pattern of the capture's name, a pattern of the options, the reason.
known() {
    cat <<'END'
END
}

is_known() {
    local capture options reason
    while IFS='|' read -r capture options reason; do
        # Both are patterns on purpose.
        # shellcheck disable=SC2254
        case $1 in $capture) case $2 in $options) return 0 ;; esac ;; esac
    done < <(known)
    return 1
}

same=0 listed=0 refused=0 differing=0
for file in "$@"; do
    name=$(basename "$file")
    while IFS= read -r option; do
        read -ra words <<<"$option"
        # perf looks for symbols in files, and complains; only what it prints counts.
        if ! timeout 60 "$perf" script -i "$file" "${words[@]}" </dev/null >"$work/perf" 2>"$work/perf.err"; then
            refused=$((refused + 1))
            continue
        fi
        timeout 60 "$perfdata" script "$file" "${words[@]}" </dev/null >"$work/perfdata" 2>"$work/perfdata.err"
        if cmp -s "$work/perf" "$work/perfdata"; then
            same=$((same + 1))
        elif is_known "$name" "$option"; then
            listed=$((listed + 1))
        else
            differing=$((differing + 1))
            echo "$name: $option"
            diff "$work/perf" "$work/perfdata" | head -"${LINES_SHOWN:-6}" | cut -c1-200
            head -2 "$work/perfdata.err"
        fi
    done < <(options)
done
echo "same: $same, known differences: $listed, refused by perf: $refused, other differences: $differing"
[ "$differing" -eq 0 ]
