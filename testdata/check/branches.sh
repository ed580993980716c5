#!/usr/bin/env bash
# Shows that compilers' tools take the branch stacks of `perfdata export`, and make the same of them as of the capture.
#
#     branches.sh PERFDATA PERF BRANCH_STACKS
#
# BRANCH_STACKS is the program of perf-parse/examples/branch_stacks.rs: it writes captures with branch stacks of hot.c,
# which is built here. The programs:
#
#     llvm-profgen      $PROFGEN: reads brstack, and the text of perf script
#     perf2bolt         $PERF2BOLT: reads preagg with -pa, and the capture by running the perf of PATH. It must have this
#                       name, so that Debian's is /usr/lib/llvm-19/bin/perf2bolt
#     create_llvm_prof  $CREATE_LLVM_PROF: reads autofdo with --profiler=text, and the capture. Debian's reads no DWARF 5
#
# Exits with 0 if all results are the same and complete, with 1 if not, and with 3 if they are, but programs were not there.
set -u

if [ $# -ne 3 ]; then
    echo "usage: branches.sh PERFDATA PERF BRANCH_STACKS" >&2
    exit 2
fi
perfdata=$(realpath "$1") perf=$2 branch_stacks=$(realpath "$3")
check=$(cd "$(dirname "$0")" && pwd)
profgen=${PROFGEN:-llvm-profgen} perf2bolt=${PERF2BOLT:-perf2bolt} create_llvm_prof=${CREATE_LLVM_PROF:-create_llvm_prof}

export LC_ALL=C PERF_CONFIG=/dev/null PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# shellcheck source=testdata/check/programs.sh
. "$check/programs.sh"

# Prints the branches of one call of hot in a program that is mapped at the address BASE, newest first: the return, if
# RETURNED is 1, the loop's jumps back, the call; and if OUTSIDE is 1, the call of main from another file, and the return
# to it before.
# branches PROGRAM BASE RETURNED OUTSIDE
branches() {
    objdump -d --no-show-raw-insn "$1" | tr -d : | awk -v returned="$3" -v called_outside="$4" '
        NF == 2 && $2 == "<hot>" { inside = "hot"; entry = $1 }
        NF == 2 && $2 == "<main>" { inside = "main"; main = $1 }
        /^$/ { inside = "" }
        called { back = $1; called = 0 }
        inside == "hot" && $2 ~ /^jn/ { jump = $1; start = $3 }
        inside == "hot" && $2 ~ /^ret/ { ret = $1 }
        inside == "main" && $2 ~ /^ret/ { end = $1 }
        inside == "main" && $2 ~ /^call/ { call = $1; called = 1 }
        END {
            if (returned) print ret, back
            for (i = 1; i < 15; i++) print jump, start
            print call, entry
            if (called_outside) {
                print "outside", main
                print end, "outside"
            }
        }' | while read -r from to; do
        [ "$from" = outside ] && from=7f0000001000 || from=$(printf %x $(($2 + 0x$from)))
        [ "$to" = outside ] && to=7f0000001008 || to=$(printf %x $(($2 + 0x$to)))
        echo "$from:$to"
    done
}

# complete NAME FILE LINE...: whether the file has these lines. In each of 1000 samples, hot was called, ran the body of its
# loop 15 times, jumped back 14 times, and returned.
complete() {
    local name=$1 file=$2 line
    shift 2
    for line in "$@"; do
        grep -qxE "$line" "$file" && continue
        fail "$name: there is no line $line"
        head -"${LINES_SHOWN:-6}" "$file"
        return 1
    done
}

# export_to FORMAT OUT CAPTURE
export_to() {
    rm -f "$2"
    "$perfdata" export --to "$1" -o "$2" --binary hot "$3" 2>errors || fail "perfdata export --to $1: $(head -1 errors)"
}

# make_profile TEXT OUT
make_profile() {
    rm -f "$2"
    timeout 60 "$profgen" --binary=hot --format=text --output="$2" --perfscript="$1" >errors 2>&1 ||
        fail "llvm-profgen: $kind, $1: $(head -3 errors)"
}

profile() {
    export_to brstack all.txt all.data
    "$perf" script -i all.data -F ip,brstack --show-mmap-events >perf.txt 2>/dev/null
    make_profile perf.txt perf.profile
    make_profile all.txt all.profile
    # That it does not know where the program was mapped.
    ! grep "No relevant mmap" errors || fail "llvm-profgen: $1"
    same "llvm-profgen: $1" perf.profile all.profile &&
        complete "llvm-profgen: $1" all.profile 'hot:[0-9]+:1000' " $((line - start)): 15000" && results=$((results + 1))
    # In perf's text the frames of call chains are offsets in the file, in which llvm-profgen finds no function.
    export_to brstack chain.txt chain.data
    make_profile chain.txt chain.profile
    complete "llvm-profgen: $1, with call chains" chain.profile '\[?hot\]?:[0-9]+:1000' " $((line - start)): 14000" && results=$((results + 1))
}

bolt() {
    export_to preagg preagg.txt all.data
    rm -f perf.fdata preagg.fdata
    timeout 60 "$perf2bolt" -p all.data --ignore-build-id -o perf.fdata hot >errors 2>&1 || fail "perf2bolt: $1: $(head -3 errors)"
    timeout 60 "$perf2bolt" -pa -p preagg.txt -o preagg.fdata hot >errors 2>&1 || fail "perf2bolt -pa: $1: $(head -3 errors)"
    # Other lines are those of calls that it finds by the code that ran after them.
    same "perf2bolt -pa: $1" perf.fdata preagg.fdata && complete "perf2bolt -pa: $1" preagg.fdata \
        '1 main [0-9a-f]+ 1 hot[^ ]* 0 0 1000' '1 (hot[^ ]*) [0-9a-f]+ 1 \1 [0-9a-f]+ 0 14000' && results=$((results + 1))
}

# When it reads captures, it leaves out entries with an end in no file.
autofdo() {
    export_to autofdo autofdo.txt inside.data
    rm -f perf.prof autofdo.prof
    timeout 60 "$create_llvm_prof" --binary=hot --profile=inside.data --format=text --out=perf.prof >errors 2>&1 ||
        fail "create_llvm_prof: $1: $(head -3 errors)"
    timeout 60 "$create_llvm_prof" --binary=hot --profiler=text --profile=autofdo.txt --format=text --out=autofdo.prof >errors 2>&1 ||
        fail "create_llvm_prof --profiler=text: $1: $(head -3 errors)"
    same "create_llvm_prof --profiler=text: $1" perf.prof autofdo.prof &&
        complete "create_llvm_prof --profiler=text: $1" autofdo.prof " $((line - start)): 15000" && results=$((results + 1))
}

results=0
start=$(grep -n 'long hot(' "$check/hot.c" | cut -d: -f1)
line=$(grep -n 'sum += n' "$check/hot.c" | cut -d: -f1)
if [ "$(uname -m)" != x86_64 ]; then
    missing=1
    echo "not run: the branches are found in x86-64 code"
elif present branches gcc objdump readelf "$perf"; then
    present llvm-profgen "$profgen" && has_profgen=1 || has_profgen=0
    present perf2bolt "$perf2bolt" && has_bolt=1 || has_bolt=0
    present create_llvm_prof "$create_llvm_prof" && has_autofdo=1 || has_autofdo=0
    for kind in no-pie pie; do
        gcc -gdwarf-4 -O0 "-$kind" -fPIE -o hot "$check/hot.c" || fail "gcc -$kind"
        base=0
        [ $kind = no-pie ] || base=0x555555554000
        # Of the code.
        read -r offset address size < <(readelf -lW hot | awk '/LOAD.* R E / { print $2, $3, $6 }')
        # write NAME chain|no-chain RETURNED OUTSIDE
        write() {
            # shellcheck disable=SC2046
            "$branch_stacks" "$1.data" hot "$(printf %x $((base + address)))" "$offset" "$size" 1000 "$2" \
                $(branches hot $base "$3" "$4") || fail "branch_stacks: $kind"
        }
        write all no-chain 1 1
        write inside no-chain 1 0
        # llvm-profgen leaves out samples after the return, where main has not yet its frame.
        write chain chain 0 1
        [ "$has_profgen" = 0 ] || profile "$kind"
        [ "$has_bolt" = 0 ] || bolt "$kind"
        [ "$has_autofdo" = 0 ] || autofdo "$kind"
    done
fi
echo "same and complete: $results, failures: $failures, programs that are not there: $missing"
[ "$failures" = 0 ] || exit 1
[ "$missing" = 0 ] || exit 3
