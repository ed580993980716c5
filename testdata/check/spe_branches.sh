#!/usr/bin/env bash
# Shows that compilers' tools take the branches that Arm SPE records, by `perfdata export`, on any machine.
#
#     spe_branches.sh PERFDATA
#
# hot.c is built for AArch64, and spe_branches.py writes a capture with the branches of its code. The programs:
#
#     llvm-profgen      $PROFGEN: reads brstack
#     perf2bolt         $PERF2BOLT: reads preagg with -pa
#
# Exits with 0 if all results are complete, with 1 if not, and with 3 if they are, but programs were not there.
set -u

if [ $# -ne 1 ]; then
    echo "usage: spe_branches.sh PERFDATA" >&2
    exit 2
fi
perfdata=$(realpath "$1")
check=$(cd "$(dirname "$0")" && pwd)
profgen=${PROFGEN:-llvm-profgen} perf2bolt=${PERF2BOLT:-perf2bolt}

export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# shellcheck source=testdata/check/programs.sh
. "$check/programs.sh"

# complete NAME FILE LINE...: whether the file has lines that match.
complete() {
    local name=$1 file=$2 line
    shift 2
    for line in "$@"; do
        grep -qxE "$line" "$file" && continue
        fail "$name: there is no line $line"
        head -12 "$file"
        return 1
    done
    results=$((results + 1))
}

# export_to FORMAT OUT
export_to() {
    "$perfdata" export --to "$1" -o "$2" --binary hot "$work/spe.data" 2>errors || fail "perfdata export --to $1: $(head -1 errors)"
}

results=0
if present branches aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump readelf python3; then
    aarch64-linux-gnu-gcc -gdwarf-4 -O1 -no-pie -static -Wl,-q -o hot "$check/spe_hot.c" || fail "gcc"
    python3 "$check/spe_branches.py" "$work/hot" 1000 spe.data || fail "spe_branches.py"
    line=$(grep -n 'int hot(' "$check/spe_hot.c" | cut -d: -f1)
    body=$(($(grep -n 'sum += i' "$check/spe_hot.c" | cut -d: -f1) - line))
    call=$(($(grep -n 'hot(15)' "$check/spe_hot.c" | cut -d: -f1) - $(grep -n 'int main' "$check/spe_hot.c" | cut -d: -f1)))
    if present llvm-profgen "$profgen"; then
        export_to brstack spe.txt
        timeout 60 "$profgen" --binary=hot --format=text --output=spe.profile --perfscript=spe.txt >errors 2>&1 ||
            fail "llvm-profgen: $(head -3 errors)"
        # The body of the loop ran 15 times in each of the calls.
        complete "llvm-profgen" spe.profile 'hot:[0-9]+:[0-9]+' " $body: 1[4-6][0-9]{3}" " $call: [0-9]+ hot:1000"
    fi
    if present perf2bolt "$perf2bolt"; then
        export_to preagg spe.preagg
        timeout 60 "$perf2bolt" -pa -p spe.preagg -o spe.fdata hot >errors 2>&1 || fail "perf2bolt -pa: $(head -3 errors)"
        complete "perf2bolt" spe.fdata '1 main [0-9a-f]+ 1 hot[^ ]* 0 [0-9]+ 1000' \
            '1 (hot[^ ]*) [0-9a-f]+ 1 \1 [0-9a-f]+ [0-9]+ 14000'
    fi
fi
echo "complete: $results, failures: $failures, programs that are not there: $missing"
[ "$failures" = 0 ] || exit 1
[ "$missing" = 0 ] || exit 3
