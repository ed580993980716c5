#!/usr/bin/env bash
# Compares `perfdata sched` with `perf sched`: each capture with each verb and set of options.
#
#     sched.sh PERFDATA PERF [CAPTURE...]
#
# PERF is 6.1, or 7.2 or later. Without captures, compares ../sched/switches.data. Exits with 0 if every output is the same. Prints
# each difference, and at the end how many comparisons there were. Captures with call chains need the files of this machine.
set -u

if [ $# -lt 2 ]; then
    echo "usage: sched.sh PERFDATA PERF [CAPTURE...]" >&2
    exit 2
fi
perfdata=$1 perf=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- "$here"/sched/switches.data

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $("$perf" --version) in
*" 6.1."*) version=6.1 ;;
*) version=7.2 ;;
esac

# The verb and the options of one comparison on each line. TID, START and END are of the capture.
options() {
    cat <<'END'
timehist
timehist -w
timehist -n
timehist -M
timehist -V
timehist --state
timehist -w -n -M -V --state
timehist -s
timehist -S
timehist -S --state
timehist -I -s
timehist -t TID -S
timehist -p TID
timehist -C 0
timehist -C 1 -s
timehist --time START,END -S
timehist --time START,
timehist --time ,END --state
timehist --max-stack 2
latency
latency -p
latency -s max
latency -s switch,pid
latency -p -s runtime,pid
latency -C 0
map
map --compact
map --cpus 1
END
    if [ $version != 6.1 ]; then
        cat <<'END'
timehist -P
timehist --show-prio
timehist --prio 120
map --task-name perf
map --task-name s --fuzzy-name
END
    fi
}

same=0 different=0
for capture in "$@"; do
    # The third switch, and the one before the last.
    "$perf" script -i "$capture" -F tid,time,event 2>/dev/null | grep 'sched:sched_switch' >"$work/switches"
    read -r tid start _ < <(sed -n 3p "$work/switches")
    read -r _ end _ < <(tail -2 "$work/switches" | head -1)
    while read -r verb arguments; do
        arguments=${arguments//TID/$tid} arguments=${arguments//START/${start%:}} arguments=${arguments//END/${end%:}}
        # shellcheck disable=SC2086
        "$perf" sched "$verb" -i "$capture" $arguments >"$work/theirs" 2>/dev/null
        # shellcheck disable=SC2086
        "$perfdata" sched "$verb" "$capture" --perf-version $version $arguments >"$work/ours" 2>"$work/errors"
        if [ -s "$work/theirs" ] && cmp -s "$work/theirs" "$work/ours"; then
            same=$((same + 1))
        else
            different=$((different + 1))
            echo "different: $capture: $verb $arguments"
            diff "$work/theirs" "$work/ours" | head -6
            head -2 "$work/errors"
        fi
    done < <(options)
done
echo "perf $version: same: $same, different: $different"
[ $different = 0 ]
