#!/usr/bin/env bash
# Compares `perfdata fold` with `perf script | inferno-collapse-perf`, line by line: each capture with each set of options.
#
#     fold.sh PERFDATA PERF [CAPTURE...]
#
# Without captures, compares all of ../captures, ../synthetic and ../foreign, and a program that is built and recorded here,
# whose functions are inlined and have names. Those of simpleperf are left out: perf does not read the symbols in them. The program inferno-collapse-perf is $INFERNO, the perf must be 6.1. Its
# stacks are drawn by inferno-flamegraph, if $FLAMEGRAPH is it, and by speedscope, if $SPEEDSCOPE is the index.html of the
# npm package, in a Chromium, $CHROMIUM.
#
# Exits with 0 if every output is the same, or differs as the table below says; with 1 if not; with 3 if they are the same,
# but programs were not there, or nothing could be recorded. Prints each other difference, and at the end how many
# comparisons there were.
set -u

if [ $# -lt 2 ]; then
    echo "usage: fold.sh PERFDATA PERF [CAPTURE...]" >&2
    exit 2
fi
perfdata=$(realpath "$1") perf=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
inferno=${INFERNO:-inferno-collapse-perf} flamegraph=${FLAMEGRAPH:-}
speedscope=${SPEEDSCOPE:-} chromium=${CHROMIUM:-chromium-headless-shell}
if ! command -v "$inferno" >/dev/null; then
    echo "not run: inferno-collapse-perf is not there"
    exit 3
fi

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat PERF_CONFIG=/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/empty"
missing=0

# The options of one comparison on each line: those of perfdata, and those of inferno for the same.
options() {
    cat <<'END'
|
--root pid|--pid
--root tid|--tid
--mark kernel|--kernel
--mark jit|--jit
--root tid --mark kernel,jit|--tid --all
END
}

# The differences that are known: patterns of the capture and of perfdata's options, and the reason.
known() {
    cat <<'END'
dwarf.data|*|Without the files nobody can unwind: perf prints no frame, perfdata the address of the sample.
everything.data|*|As above.
raw.data|*|perf prints no address of tracepoints without call chains, so that inferno has no stack to fold.
tracing.pipe.data|*|As above.
uprobe.data|*|As above.
perf.data.raw_callgraph_branch-3.4|*|perf names a module of the kernel by its file where the capture has its build id, perfdata by its name.
registers.*|*|perf unwinds copies of stacks only if the event has call chains, too.
contexts.*|*|perf drops samples of guests whose virtual machine no record names.
dispatch.*|*|Its first event has neither thread nor time: inferno finds no samples in perf's text.
branches.?e.data|*|inferno takes cycles:u and cycles:uu for one event, because it cuts names at the colon.
records.*|*|Bytes of names that are not UTF-8 are escaped.
END
}

is_known() {
    local capture options
    while IFS='|' read -r capture options _; do
        # All are patterns on purpose.
        # shellcheck disable=SC2254
        case $1 in $capture) case $2 in $options) return 0 ;; esac ;; esac
    done < <(known)
    return 1
}

# Prints a text of perf script so that inferno reads all of it. A sample on one line, of an event that is not folded, makes
# inferno leave out the next sample, unless a blank line is between them. And if an event's name is padded to the width of
# another one, inferno does not find the period, and counts 1.
separated() {
    awk '
        /^[^\t#]/ {
            if (samples++) print ""
            if (match($0, /[0-9]+\.[0-9]+: /)) {
                rest = substr($0, RSTART + RLENGTH)
                gsub(/ +/, " ", rest)
                $0 = substr($0, 1, RSTART + RLENGTH - 1) rest
            }
        }
        { print }' "$1"
}

# The names of the C library that differ. ld.so begins with a call as the last instruction of _start, and perf names the
# frame after the function at the address that the call returns to. perfdata names the PLT entries of local ifuncs. And if
# inlined functions are shown, perf takes the outermost one's name from DWARF, too.
normalised() {
    sed -E -e 's/;_dl_start_user(;| )/;_start\1/; s/;\*ABS\*\+0x[0-9a-f]+@plt/;@plt/' \
        -e 's/;__libc_start_main(_impl|@@GLIBC_[0-9.]+)(;| )/;__libc_start_main\2/; s/;__GI_/;/g' | sort
}

# Completes the stacks of check/inlined.c where perf stops at main: after the `pop %rbp` of caller, the rule of rbp still names
# the place that it was popped from, below the stack pointer. The copy of the stack does not have it. perf ends the stack
# there; perfdata takes the register, which has the value. What is then the same stack is added up.
completed() {
    sed -E 's/^(inlined[^;]*);main;caller /\1;_start;__libc_start_main;__libc_start_call_main;main;caller /' | awk '
        { count = $NF; sub(/ [0-9]+$/, ""); sum[$0] += count }
        END { for (stack in sum) printf "%s %.0f\n", stack, sum[stack] }' | sort
}

# Compares one capture with each set of options. Prints the differences, and then the counts.
# compare FILE FOLDER OPTIONS-OF-BOTH OPTIONS-OF-PERF
compare() {
    local file=$1 work=$2 name ours theirs same=0 empty=0 listed=0 refused=0 differing=0
    local -a of_both only_perf of_ours of_theirs
    name=$(basename "$file")
    read -ra of_both <<<"$3"
    read -ra only_perf <<<"$4"
    mkdir "$work"
    # perf complains about files that it does not find; only what it prints counts.
    if ! timeout 120 "$perf" script -i "$file" -F +pid "${of_both[@]}" "${only_perf[@]}" </dev/null >"$work/perf.raw" 2>/dev/null; then
        refused=1
    else
        separated "$work/perf.raw" >"$work/perf.txt"
        while IFS='|' read -r ours theirs; do
            read -ra of_ours <<<"$ours"
            read -ra of_theirs <<<"$theirs"
            "$inferno" -q "${of_theirs[@]}" <"$work/perf.txt" 2>"$work/errors" | normalised | completed >"$work/perf.folded"
            timeout 120 "$perfdata" fold "$file" "${of_both[@]}" "${of_ours[@]}" </dev/null 2>>"$work/errors" | normalised | completed >"$work/ours.folded"
            if cmp -s "$work/perf.folded" "$work/ours.folded"; then
                same=$((same + 1))
                [ -s "$work/ours.folded" ] || empty=$((empty + 1))
            elif is_known "$name" "$ours"; then
                listed=$((listed + 1))
            else
                differing=$((differing + 1))
                echo "$name: $3 $ours"
                diff -a "$work/perf.folded" "$work/ours.folded" | head -"${LINES_SHOWN:-6}" | cut -c1-"${WIDTH_SHOWN:-200}"
                head -2 "$work/errors"
            fi
        done < <(options)
    fi
    echo "$same $empty $listed $refused $differing" >"$work.counts"
}

if [ $# -eq 0 ]; then
    mapfile -t foreign < <(find "$here"/foreign -type f -not -path '*/simpleperf/*' | sort)
    set -- "$here"/captures/* "$here"/synthetic/* "${foreign[@]}"
fi
number=0
for file in "$@"; do
    number=$((number + 1))
    # Without symbols, which differ from machine to machine. A perf that crashes has refused the file; bash need not
    # report it.
    compare "$file" "$work/$number" "--symfs $work/empty --no-inline" "--kallsyms /dev/null" 2>/dev/null &
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-4}" ]; do
        wait -n
    done
done
wait

# Records a program that is built here, and compares its stacks: with names, and with inlined functions.
record() {
    local program=$work/inlined
    gcc -g -O2 -fno-omit-frame-pointer -o "$program" "$here/check/inlined.c" || return
    for graph in fp dwarf,4096; do
        "$perf" record -q -e cpu-clock:u -F 999 --call-graph "$graph" -o "$work/$graph.data" "$program" >/dev/null 2>&1 </dev/null || return
        compare "$work/$graph.data" "$work/$graph.names" --no-inline ""
    done
    # perf 6.1 finds inlined functions only in stacks that it unwinds by DWARF.
    compare "$work/dwarf,4096.data" "$work/dwarf.inlines" "" ""
    "$perfdata" fold "$work/dwarf,4096.data" --mark all >"$work/marked"
    grep -q 'main;caller;outer;middle_\[i\];innermost_\[i\] [0-9]*$' "$work/marked" ||
        fail "the program that was recorded: no stack has the inlined functions, marked"
    draw "$work/marked"
}

# Gives stacks to the programs that draw them, if they are there.
draw() {
    local sum
    sum=$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$1")
    if [ -n "$flamegraph" ]; then
        # The names of all functions with what they count: all of it for the outermost one.
        "$flamegraph" <"$1" 2>"$work/errors" | tr -d , >"$work/graph.svg"
        if ! grep -q '<title>innermost (' "$work/graph.svg" || ! grep -q "<title>all ($sum samples 100%)" "$work/graph.svg"; then
            fail "inferno-flamegraph: not all samples are drawn: $(head -1 "$work/errors")"
        fi
    fi
    if [ -n "$speedscope" ]; then
        IMPORTED_AS="collapsed stack" timeout 600 node "$here/check/speedscope.mjs" "$chromium" "$speedscope" "$1" "$work/speedscope.json" 2>"$work/errors"
        # shellcheck disable=SC2016
        node -e '
            const { profiles, shared } = JSON.parse(require("fs").readFileSync(process.argv[1]));
            const sum = profiles.reduce((sum, { startValue, endValue }) => sum + endValue - startValue, 0);
            const names = shared.frames.map(({ name }) => name);
            process.exit(sum == process.argv[2] && names.includes("innermost_[i]") ? 0 : 1);
            ' "$work/speedscope.json" "$sum" || fail "speedscope: not all samples are drawn: $(head -1 "$work/errors")"
    fi
}

failures=0
fail() {
    failures=$((failures + 1))
    echo "$1"
}

if ! command -v gcc >/dev/null || ! "$perf" record -q -e cpu-clock:u -o "$work/true.data" true >/dev/null 2>&1; then
    missing=1
    echo "not run: a program with names: gcc is not there, or nothing can be recorded"
else
    record || fail "the program with names was not recorded"
fi

read -r same empty listed refused differing < <(awk '
    { same += $1; empty += $2; listed += $3; refused += $4; differing += $5 }
    END { print same + 0, empty + 0, listed + 0, refused + 0, differing + 0 }' "$work"/*.counts)
echo "same: $same (without samples: $empty), known differences: $listed, refused by perf: $refused, other differences: $differing"
[ $((differing + failures)) -eq 0 ] || exit 1
# Empty on both sides is no success.
[ "$same" -gt "$empty" ] || exit 1
[ "$missing" -eq 0 ] || exit 3
