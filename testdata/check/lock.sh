#!/usr/bin/env bash
# Compares `perfdata lock contention` with `perf lock contention`: each capture with each set of options.
#
#     lock.sh PERFDATA PERF [CAPTURE...]
#
# PERF is 6.1, or 7.2 or later. Without captures, compares ../lock/contention.data, by ../lock/kallsyms. Exits with 0 if every output
# is the same. Prints each difference, and at the end how many comparisons there were. Other captures need the files of this machine.
set -u

if [ $# -lt 2 ]; then
    echo "usage: lock.sh PERFDATA PERF [CAPTURE...]" >&2
    exit 2
fi
perfdata=$1 perf=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
names=()
if [ $# = 0 ]; then
    set -- "$here"/lock/contention.data
    names=(--kallsyms "$here"/lock/kallsyms)
fi

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $("$perf" --version) in
*" 6.1."*) version=6.1 ;;
*) version=7.2 ;;
esac

# The options of one comparison on each line. LOCK is an address of the capture.
options() {
    cat <<'END'

-t
-t -E 3
-k contended
-k wait_max
-k wait_min
-k avg_wait -E 5
-F contended,wait_min
-F wait_max,wait_min,contended -k avg_wait
-E 1
-E 0
--max-stack 5
--max-stack 20
--stack-skip 0
--stack-skip 2
-v
-v -t
-v -E 2
END
    if [ $version != 6.1 ]; then
        cat <<'END'
-l
-l -k contended -E 4
-l -Y spinlock
-l -v
-Y spinlock
-Y rwsem,mutex
-Y rwsem:W
-Y pcpu-sem:R
-t -Y rwlock
-L LOCK
-l -L 0xLOCK,1234
-L no_such_symbol
-S schedule
-S sched,mutex -v
-S mutex -E 2 -x ,
-S no_such_function -v
-x ,
-x ; -v
-l -x ,
-t -x ,
-q
-q -x ,
END
    fi
}

same=0 different=0
for capture in "$@"; do
    lock=$("$perf" script -i "$capture" -F event,trace 2>/dev/null | grep -m1 -o 'contention_begin: *0x[0-9a-f]*' | sed 's/.*0x//')
    while IFS= read -r arguments; do
        arguments=${arguments//LOCK/$lock}
        # shellcheck disable=SC2086
        if [ $version = 6.1 ]; then
            # perf prints its table where it prints warnings, which -v has before it.
            "$perf" lock "${names[@]}" contention -i "$capture" $arguments 2>&1 | sed -n '/ \(caller\|comm\)$/,$p' >"$work/theirs"
        else
            "$perf" lock contention "${names[@]}" -i "$capture" $arguments --output "$work/theirs" >/dev/null 2>&1
        fi
        # shellcheck disable=SC2086
        "$perfdata" lock contention "$capture" "${names[@]}" --perf-version $version $arguments >"$work/ours" 2>"$work/errors"
        if [ -s "$work/theirs" ] && cmp -s "$work/theirs" "$work/ours"; then
            same=$((same + 1))
        else
            different=$((different + 1))
            echo "different: $capture: $arguments"
            diff "$work/theirs" "$work/ours" | head -6
            head -2 "$work/errors"
        fi
    done < <(options)
done
echo "perf $version: same: $same, different: $different"
[ $different = 0 ]
