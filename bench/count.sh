#!/usr/bin/env bash
# Counts the instructions that each way of decoding takes for a record, and holds them against instructions.txt.
#
# Needs valgrind. The counts are of one compiler and target, those that the first line of instructions.txt names; with
# others the comparison is printed and binds nobody.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Percent that a count may be off, up or down.
tolerance=3
committed=instructions.txt

usage() {
    cat <<END
usage: count.sh [INPUT [WAY]]   counts, and prints each beside the committed count
       count.sh --check         the same of all, and fails where one is off by more than $tolerance %
       count.sh --accept        writes the counts to $committed
END
}

mode=print
case "${1-}" in
--check | --accept) mode=${1#--} && shift ;;
--help) usage && exit ;;
esac
if [[ $mode != print && $# -gt 0 || $# -gt 2 || ${1-} == -* ]]; then
    usage >&2
    exit 2
fi

# What a caller's own flags would change is not to be counted.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
cargo build --release >&2
target=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
bench=$target/release/bench
compiler="$(rustc --version) $(rustc --version --verbose | sed -n 's/^host: //p')"

# Prints `input way instructions`, the last for a record.
count() {
    local records log collected
    log=$(mktemp)
    records=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='bench::count::counted*' \
        --log-file="$log" "$bench" count "$1" "$2")
    collected=$(sed -n 's/.*Collected : //p' "$log")
    rm "$log"
    if [[ ! $collected =~ ^[1-9] ]]; then
        echo "$1 $2: callgrind saw no instruction of bench::count::counted" >&2
        return 1
    fi
    awk "BEGIN { printf \"%s %s %.2f\n\", \"$1\", \"$2\", $collected / $records }"
}
export bench
export -f count

pairs=$("$bench" count --list | awk -v input="${1-}" -v way="${2-}" \
    '(input == "" || $1 == input) && (way == "" || $2 == way)')
if [[ -z $pairs ]]; then
    echo "there is no such input or way: see $bench count --list" >&2
    exit 2
fi
counts=$(xargs -P "$(nproc)" -L 1 bash -c 'set -euo pipefail; count "$@"' count <<<"$pairs")
# They end in any order.
counts=$(awk 'NR == FNR { count[$1, $2] = $0; next } { print count[$1, $2] }' - <(echo "$pairs") <<<"$counts")

if [[ $mode == accept ]]; then
    printf '%s\n%s\n' "$compiler" "$counts" >"$committed"
    echo "$committed is written: commit it with the change that it is of."
    exit
fi

echo "instructions a record, $compiler"
# Every pair of either side, in the order of the program; what has gone comes last.
off=0
awk -v tolerance="$tolerance" -v partial="$#" '
    NR == FNR { if (FNR > 1) { before[$1 " " $2] = $3; order[++last] = $1 " " $2 }; next }
    FNR == 1 { printf "%-12s %-12s %10s %10s %9s\n", "input", "way", "committed", "now", "change" }
    {
        pair = $1 " " $2
        seen[pair] = 1
        if (!(pair in before)) {
            printf "%-12s %-12s %10s %10.2f %9s  OFF: not in the committed counts\n", $1, $2, "-", $3, "-"
            off = 1
            next
        }
        change = ($3 / before[pair] - 1) * 100
        is_off = change > tolerance || change < -tolerance
        off = off || is_off
        printf "%-12s %-12s %10.2f %10.2f %+8.2f%%%s\n", $1, $2, before[pair], $3, change, is_off ? "  OFF" : ""
    }
    END {
        for (at = 1; at <= last && !partial; at++) {
            if (!(order[at] in seen)) {
                split(order[at], names)
                printf "%-12s %-12s %10.2f %10s %9s  OFF: is no more\n", names[1], names[2], before[order[at]], "-", "-"
                off = 1
            }
        }
        exit off
    }' "$committed" <(echo "$counts") || off=1

if [[ $mode == check ]]; then
    if [[ $(head -n 1 "$committed") != "$compiler" ]]; then
        echo "Not binding: the committed counts are of $(head -n 1 "$committed")."
    elif [[ $off != 0 ]]; then
        echo "Off by more than $tolerance %, up or down. If it is meant to be, accept it with" \
            "bench/count.sh --accept and commit $committed with the change." >&2
        exit 1
    fi
fi
