#!/usr/bin/env bash
# Runs every fuzz target and prints the rows of the budget table of README.md.
#
#     fuzz/campaign.sh SECONDS [AT_A_TIME] [TARGET...]
#
# Each target runs for SECONDS, AT_A_TIME of them (1 where that is not given) beside each other. What they find goes to
# fuzz/found; inputs that fail go to fuzz/artifacts, and end the script with status 1 once all targets have run.
#
# Inputs are chosen without libFuzzer's entropy, whose keeping takes several times as long as the bodies do.
# TRACE_COMPARES=1 builds with the operands of comparisons told to the fuzzer: a third slower, and the dictionaries know
# the words that matter.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
seconds=$1
at_a_time=${2:-1}
shift $(($# < 2 ? 1 : 2))
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -gt 0 ]; then
    targets=("$@")
else
    mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | sed 1d)
fi

# There is nothing unsafe that could use a stack frame after its return, and no leak that a stack trace would help with.
export ASAN_OPTIONS=detect_stack_use_after_return=0:malloc_context_size=0:quarantine_size_mb=8
compares=(--no-trace-compares)
[ "${TRACE_COMPARES:-0}" = 0 ] || compares=()
# Overflow checks and debug assertions are on, as cargo fuzz has it.
cargo +nightly fuzz build "${compares[@]}" >&2

# Bytes of an input at most: what is longer says little more and takes longer.
max_len() {
    case $1 in
        parse_sample | parse_record) echo 256 ;;
        parse_attr) echo 200 ;;
        time_order) echo 128 ;;
        tracepoint_format | parse_features | write_read | parse_file | session) echo 1024 ;;
        command_line | folder) echo 4096 ;;
        *) echo 2048 ;;
    esac
}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Runs a target; its row, and a file beside its log if it failed.
run() {
    local target=$1 log=$logs/$1 found=fuzz/found/$1 artifacts=fuzz/artifacts/$1 dict=() findings=none executions
    mkdir -p "$found" "$artifacts"
    [ ! -f "fuzz/dict/$target.dict" ] || dict=(-dict="fuzz/dict/$target.dict")
    cargo +nightly fuzz run "${compares[@]}" "$target" "$found" "fuzz/corpus/$target" -- \
        -entropic=0 -max_total_time="$seconds" -max_len="$(max_len "$target")" "${dict[@]}" \
        -malloc_limit_mb=64 -rss_limit_mb=512 -timeout=5 -print_final_stats=1 -artifact_prefix="$artifacts/" \
        >"$log" 2>&1 || findings="in $artifacts"
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    # A run that ends early without a word is a failure too.
    [ -n "$executions" ] || findings="none, but it did not end as it should"
    if [ "$findings" != none ]; then
        touch "$log.failed"
        tail -n 30 "$log" >&2
    fi
    # The last counters; where none follow the start, the target ran for too short a time.
    counter() { grep -o " $1: [0-9]*" "$log" | tail -n 1 | grep -o '[0-9]*$' || echo '?'; }
    echo "| $(date +%F) | $target | $seconds | ${executions:-?} | $(counter cov) | $(counter ft) | $findings |"
}

echo '| date | target | seconds | executions | cov | ft | findings |'
echo '|---|---|---|---|---|---|---|'
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$at_a_time" ]; do
        wait -n || true
    done
    run "$target" &
done
wait
! compgen -G "$logs/*.failed" >/dev/null
