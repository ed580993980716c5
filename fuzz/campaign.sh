#!/usr/bin/env bash
# Runs every fuzz target and prints the rows of the budget table of README.md.
#
#     fuzz/campaign.sh SECONDS [AT_A_TIME] [TARGET...]
#
# Each target runs for SECONDS, AT_A_TIME targets (default 1) at the same time. New inputs go to fuzz/found. Inputs that
# fail go to fuzz/artifacts, and make the script exit with status 1 after all targets have run.
#
# The script disables libFuzzer's entropic mode, which would take several times as long as the bodies.
# TRACE_COMPARES=1 passes the operands of comparisons to the fuzzer. That is a third slower, and the dictionaries already
# have the words that matter.
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

fuzz/corpus.py unpack "${targets[@]}"
# No unsafe code could use a stack frame after its return. Stack traces of allocations are not needed.
export ASAN_OPTIONS=detect_stack_use_after_return=0:malloc_context_size=0:quarantine_size_mb=8
compares=(--no-trace-compares)
[ "${TRACE_COMPARES:-0}" = 0 ] || compares=()
# cargo fuzz enables overflow checks and debug assertions.
cargo +nightly fuzz build "${compares[@]}" >&2

# Prints the maximum number of bytes of an input. Longer inputs take longer and find little more.
max_len() {
    case $1 in
        parse_sample | parse_record) echo 256 ;;
        parse_attr) echo 200 ;;
        time_order) echo 128 ;;
        tracepoint_format | print_fmt | parse_features | write_read | parse_file | session | unwind | profile) echo 1024 ;;
        command_line | folder) echo 4096 ;;
        symbol_elf) echo 8192 ;;
        *) echo 2048 ;;
    esac
}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Runs a target and prints its row. If it failed, creates a file next to its log.
run() {
    local target=$1 log=$logs/$1 found=fuzz/found/$1 artifacts=fuzz/artifacts/$1 dict=() findings=none executions
    mkdir -p "$found" "$artifacts"
    [ ! -f "fuzz/dict/$target.dict" ] || dict=(-dict="fuzz/dict/$target.dict")
    cargo +nightly fuzz run "${compares[@]}" "$target" "$found" "fuzz/corpus/$target" -- \
        -entropic=0 -max_total_time="$seconds" -max_len="$(max_len "$target")" "${dict[@]}" \
        -malloc_limit_mb=64 -rss_limit_mb=512 -timeout=5 -print_final_stats=1 -artifact_prefix="$artifacts/" \
        >"$log" 2>&1 || findings="in $artifacts"
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    # A run that ends early without a message is a failure too.
    [ -n "$executions" ] || findings="none, but it did not end as it should"
    if [ "$findings" != none ]; then
        touch "$log.failed"
        tail -n 30 "$log" >&2
    fi
    # The last counters, or `?` if the target ran for too short a time to print any.
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
