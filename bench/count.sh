#!/usr/bin/env bash
# Counts the instructions that each way of decoding takes for a record, and compares them with instructions.txt.
#
# Needs valgrind. The counts are valid for one compiler and one target: those in the first line of instructions.txt. With
# others, --check prints the comparison and does not fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The difference in percent, up or down, that a count may have.
tolerance=2
committed=instructions.txt

usage() {
    cat <<END
usage: count.sh [INPUT [WAY]]   prints each count next to the committed count
       count.sh --check         does the same for all counts; fails if one differs by more than $tolerance %
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

# The flags of the caller must not change the counts.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
cargo build --release >&2
target=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
bench=$target/release/bench
compiler="$(rustc --version) $(rustc --version --verbose | sed -n 's/^host: //p')"

# Prints `input way instructions`; the instructions are those per record.
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
# The runs end in any order.
counts=$(awk 'NR == FNR { count[$1, $2] = $0; next } { print count[$1, $2] }' - <(echo "$pairs") <<<"$counts")

if [[ $mode == accept ]]; then
    printf '%s\n%s\n' "$compiler" "$counts" >"$committed"
    echo "Wrote $committed. Commit it with the change that changed the counts."
    exit
fi

echo "instructions per record, $compiler"
# Every pair of both sides, in the order of the program. Pairs that no longer exist come last.
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
                printf "%-12s %-12s %10.2f %10s %9s  OFF: no longer exists\n", names[1], names[2], before[order[at]], "-", "-"
                off = 1
            }
        }
        exit off
    }' "$committed" <(echo "$counts") || off=1

if [[ $mode == check ]]; then
    if [[ $(head -n 1 "$committed") != "$compiler" ]]; then
        echo "Not checked: the committed counts are those of $(head -n 1 "$committed")."
    elif [[ $off != 0 ]]; then
        echo "A count differs by more than $tolerance %. If the difference is intended, run" \
            "bench/count.sh --accept and commit $committed with the change." >&2
        exit 1
    fi
fi
