#!/bin/sh
# Runs every fuzz target and prints the rows of the budget table of README.md.
#
#     fuzz/campaign.sh SECONDS [JOBS] [TARGET...]
#
# Each target runs for SECONDS on JOBS processes (1 where that is not given). What they find goes to fuzz/found, which is
# theirs alone; inputs that fail go to fuzz/artifacts, and end the script with status 1 once all targets have run.
#
# Inputs are chosen without libFuzzer's entropy, whose keeping takes several times as long as the bodies do.
# TRACE_COMPARES=1 builds with the operands of comparisons told to the fuzzer: a third slower, and the dictionaries know
# the words that matter.
set -eu

[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
seconds=$1
jobs=${2:-1}
[ $# -lt 2 ] && shift 1 || shift 2
cd "$(dirname "$0")/.."
targets=${*:-$(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | sed 1d)}

# There is nothing unsafe that could use a stack frame after its return, and no leak that a stack trace would help with.
export ASAN_OPTIONS=detect_stack_use_after_return=0:malloc_context_size=0:quarantine_size_mb=8
compares=--no-trace-compares
[ "${TRACE_COMPARES:-0}" = 0 ] || compares=
# Overflow checks and debug assertions are on, as cargo fuzz has it.
cargo +nightly fuzz build $compares >&2

# Bytes of an input at most: what is longer says little more and takes longer.
max_len() {
    case $1 in
        parse_sample | parse_record) echo 256 ;;
        parse_attr) echo 200 ;;
        time_order) echo 128 ;;
        tracepoint_format) echo 1024 ;;
        parse_features | write_read) echo 1024 ;;
        *) echo 2048 ;;
    esac
}

status=0
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
echo '| date | target | seconds × jobs | executions | cov | ft | findings |'
echo '|---|---|---|---|---|---|---|'
for target in $targets; do
    found=fuzz/found/$target
    artifacts=fuzz/artifacts/$target
    mkdir -p "$found" "$artifacts"
    dict=
    [ ! -f "fuzz/dict/$target.dict" ] || dict=-dict=fuzz/dict/$target.dict
    processes=
    job=1
    while [ "$job" -le "$jobs" ]; do
        # The processes take over from each other what they find.
        cargo +nightly fuzz run $compares "$target" "$found" "fuzz/corpus/$target" -- \
            -entropic=0 -max_total_time="$seconds" -max_len="$(max_len "$target")" $dict \
            -malloc_limit_mb=64 -rss_limit_mb=512 -timeout=5 -print_final_stats=1 -seed="$((job + $(date +%s)))" \
            -artifact_prefix="$artifacts/" >"$logs/$target.$job" 2>&1 &
        processes="$processes $!"
        job=$((job + 1))
    done
    failed=0
    for process in $processes; do
        wait "$process" || failed=$((failed + 1))
    done
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$target".* | awk '{n += $1} END {print n + 0}')
    # The last counters of each process; the largest.
    counter() {
        for log in "$logs/$target".*; do
            grep -o "$1: [0-9]*" "$log" | tail -n 1
        done | awk '$2 > n {n = $2} END {print n + 0}'
    }
    findings=none
    # A run that ends early without a word is a failure too.
    if [ "$failed" -gt 0 ] || [ "$executions" = 0 ]; then
        status=1
        findings="$failed in $artifacts"
        tail -n 30 "$logs/$target".* >&2
    fi
    echo "| $(date +%F) | $target | $seconds × $jobs | $executions | $(counter cov) | $(counter ft) | $findings |"
done
exit $status
