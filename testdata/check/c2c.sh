#!/usr/bin/env bash
# Compares `perfdata c2c report` with `perf c2c report --stdio`: captures that are made here, each with each set of options.
#
#     c2c.sh PERFDATA PERF RANDOM [FIRST [LAST]]
#
# PERF is 6.1, or 7.2 or later; RANDOM is the example `random_c2c` of testdata, which gets the seeds from FIRST (1) to LAST (FIRST). Exits
# with 0 if every output is the same. Prints each difference, and at the end how many comparisons there were. The kernel's names are those
# of this machine.
set -u

if [ $# -lt 3 ]; then
    echo "usage: c2c.sh PERFDATA PERF RANDOM [FIRST [LAST]]" >&2
    exit 2
fi
perfdata=$1 perf=$2 random=$3 first=${4:-1}
last=${5:-$first}

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $("$perf" --version) in
*" 6.1."*) version=6.1 ;;
*) version=7.2 ;;
esac

# The number of accesses, and the kind of the capture.
kinds() {
    cat <<'END'
0
3
60
400 physical
400 physical kernel
300 arm physical
300 wild
300 wild physical kernel
200 chains
200 chains kernel
END
}

# The options of one comparison on each line.
options() {
    cat <<'END'

--stats
-d lcl
-d rmt -N
-d peer -NN
-d tot --show-all
-c pid
-c pid,tid,iaddr
-c tid,dso -N
-c dso,pid --no-source
--full-symbols
--no-source --full-symbols
-g none
-g caller
-g fractal,0.5,callee
-g flat
-g folded,count
-g graph,20,period
END
    if [ $version != 6.1 ]; then
        echo "--double-cl"
        echo "--double-cl -d lcl -c iaddr,tid -NN"
    fi
}

same=0 different=0
for ((seed = first; seed <= last; seed++)); do
    while IFS= read -r kind; do
        # shellcheck disable=SC2086
        set -- $kind
        count=$1
        shift
        "$random" "$seed" "$count" "$work" "$@" || exit 2
        while IFS= read -r arguments; do
            # shellcheck disable=SC2086
            "$perf" c2c report -i "$work/perf.data" --stdio $arguments >"$work/theirs" 2>/dev/null
            # shellcheck disable=SC2086
            "$perfdata" c2c report -i "$work/perf.data" --stdio $arguments --perf-version $version \
                >"$work/ours" 2>"$work/errors"
            if [ -s "$work/theirs" ] && cmp -s "$work/theirs" "$work/ours"; then
                same=$((same + 1))
            else
                different=$((different + 1))
                echo "different: seed $seed: $kind: $arguments"
                diff "$work/theirs" "$work/ours" | head -6
                head -2 "$work/errors"
            fi
        done < <(options)
    done < <(kinds)
done
echo "perf $version: same: $same, different: $different"
[ $different = 0 ]
