#!/usr/bin/env bash
# Shows that programs which read the text of `perf script` read that of `perfdata script` as well: gives both texts to
# each program, and compares what it makes of them, byte for byte.
#
#     consumers.sh PERFDATA PERF BRANCH_STACKS [CAPTURE...]
#
# BRANCH_STACKS is the program of perf-parse/examples/branch_stacks.rs. Without captures, reads all of ../captures and
# ../synthetic. Captures without call chains are left out, and those with copied stacks, which nobody can unwind without
# the files.
#
# The programs, each with a check that it found all samples, so that two empty results are not taken for a success:
#
#     inferno-collapse-perf   $INFERNO: folds the stacks
#     speedscope              $SPEEDSCOPE: the index.html of the npm package; imports the text in a Chromium, $CHROMIUM
#     llvm-profgen            $PROFGEN: makes a profile for a compiler from the branch stacks of a program built here
#
# Neither may find symbols, which differ from machine to machine: --symfs names an empty folder. Only the captures of JIT
# compilers whose maps are still in /tmp differ, because perf reads these maps all the same. The perf must be 6.1: newer
# ones print other addresses where they find no symbol.
#
# Exits with 0 if all results are the same, with 1 if not, and with 3 if they are, but programs were not there.
set -u

if [ $# -lt 3 ]; then
    echo "usage: consumers.sh PERFDATA PERF BRANCH_STACKS [CAPTURE...]" >&2
    exit 2
fi
perfdata=$(realpath "$1") perf=$2 branch_stacks=$(realpath "$3")
shift 3
check=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- "$check"/../captures/* "$check"/../synthetic/*

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The options of one comparison on each line: those which the programs' manuals name, and more.
options() {
    cat <<'END'

-F +pid
-F comm,pid,tid,cpu,time,event,ip,sym,dso
-F comm,tid,time,event,ip,sym,dso --ns
-F comm,pid,tid,time,period,event,ip,sym,symoff,dso
--header
END
}

# Captures that are left out: a pattern of the name, the reason.
left_out() {
    cat <<'END'
contexts.*|perf drops samples of guests whose virtual machine no record names.
deferred.*|perf 6.1 does not know CALLCHAIN_DEFERRED, nor attrs that ask for it.
dispatch.*|Its first event has neither thread nor time: the programs find no samples in perf's text.
END
}

is_left_out() {
    local capture
    while IFS='|' read -r capture _; do
        # A pattern on purpose.
        # shellcheck disable=SC2254
        case $1 in $capture) return 0 ;; esac
    done < <(left_out)
    return 1
}

# shellcheck source=testdata/check/programs.sh
. "$check/programs.sh"

# Prints of a text whose samples all have call chains: the sum of the periods of the samples with a stack, or their
# number if no period is printed; the number of threads; the sum of the threads' times from the first sample to the
# last, in seconds. Only the samples of the first event count, as for the programs.
count() {
    grep -av '^#' "$1" | awk '
        BEGIN { RS = ""; FS = "\n" }
        match($1, /[0-9]+\.[0-9]+: /) {
            time = substr($1, RSTART, RLENGTH - 2)
            thread = substr($1, 1, RSTART - 1)
            sub(/ *\[[0-9]+\] *$/, "", thread)
            words = split(substr($1, RSTART + RLENGTH), word, " ")
            if (event == "") event = word[words]
            if (word[words] != event) next
            if (NF > 1) total += words > 1 ? word[words - 1] : 1
            if (!(thread in first)) { first[thread] = time; threads++ }
            last[thread] = time
        }
        # For speedscope, a thread with samples of one time only takes a second.
        END {
            for (thread in first) seconds += last[thread] > first[thread] ? last[thread] - first[thread] : 1
            printf "%.0f %d %.6f\n", total, threads, seconds
        }'
}

# Writes the texts of all captures with all options, perf-N.txt and ours-N.txt, and remembers their names, and of how many
# events the samples have no call chain.
texts=0
declare -a names has_other_samples
write_texts() {
    local file name events option
    mkdir "$work/empty"
    for file in "$@"; do
        name=$(basename "$file")
        events=$(timeout 60 "$perf" evlist -v -i "$file" 2>/dev/null </dev/null)
        case $events in
            *STACK_USER*) continue ;;
            *CALLCHAIN*) ;;
            *) continue ;;
        esac
        ! is_left_out "$name" || continue
        while IFS= read -r option; do
            read -ra words <<<"$option"
            timeout 60 "$perf" script -i "$file" "${words[@]}" --symfs "$work/empty" --kallsyms /dev/null --no-inline \
                </dev/null >"$work/perf-$texts.txt" 2>/dev/null || continue
            timeout 60 "$perfdata" script "$file" "${words[@]}" --symfs "$work/empty" --no-inline </dev/null >"$work/ours-$texts.txt" 2>"$work/errors"
            # 3: the capture is damaged, but was printed.
            case $? in 0 | 3) ;; *) fail "perfdata: $name $option: $(head -1 "$work/errors")" ;; esac
            names[texts]="$name $option"
            has_other_samples[texts]=$(grep sample_type <<<"$events" | grep -v CALLCHAIN | grep -vc dummy)
            texts=$((texts + 1))
        done < <(options)
    done
    [ "$texts" -gt 0 ] || fail "no capture with call chains"
}

fold() {
    local number arguments total expected sum=0
    for number in "${!names[@]}"; do
        read -r expected _ < <(count "$work/perf-$number.txt")
        # The addresses, as no function has a name.
        for arguments in "" "--tid --addrs"; do
            for text in perf ours; do
                # shellcheck disable=SC2086
                timeout 60 "$inferno" $arguments <"$work/$text-$number.txt" >"$work/$text.folded" 2>"$work/$text.errors"
            done
            same "inferno-collapse-perf $arguments: ${names[number]}" "$work/perf.folded" "$work/ours.folded" || continue
            cmp -s "$work/perf.errors" "$work/ours.errors" ||
                fail "inferno-collapse-perf: ${names[number]}: $(head -1 "$work/ours.errors")"
            total=$(awk '{ total += $NF } END { printf "%.0f", total }' "$work/ours.folded")
            # A sample of another event on one line makes it skip the next sample.
            if [ "$total" != "$expected" ] && [ "${has_other_samples[number]}" = 0 ]; then
                fail "inferno-collapse-perf: ${names[number]}: the counts add up to $total, not to $expected"
                continue
            fi
            sum=$((sum + 1))
        done
    done
    echo "inferno-collapse-perf: $sum results are the same and complete"
}

import() {
    local number sum=0 files=() threads seconds
    for number in "${!names[@]}"; do
        # It reads no stack from the line of the event.
        [ "${has_other_samples[number]}" = 0 ] || continue
        for text in perf ours; do
            # Of the same name, which is in the result.
            mkdir "$work/$text-$number"
            mv "$work/$text-$number.txt" "$work/$text-$number/perf.txt"
            files+=("$work/$text-$number/perf.txt" "$work/$text-$number.json")
        done
    done
    timeout 600 node "$check/speedscope.mjs" "$chromium" "$speedscope" "${files[@]}" || fail "speedscope: failed"
    for number in "${!names[@]}"; do
        [ "${has_other_samples[number]}" = 0 ] || continue
        same "speedscope: ${names[number]}" "$work/perf-$number.json" "$work/ours-$number.json" || continue
        read -r _ threads seconds < <(count "$work/perf-$number/perf.txt")
        # shellcheck disable=SC2016
        node -e '
            const [file, threads, seconds] = process.argv.slice(1);
            const { profiles } = JSON.parse(require("fs").readFileSync(file));
            const weight = profiles.flatMap(({ weights }) => weights).reduce((a, b) => a + b, 0);
            // Times have microseconds.
            if (profiles.length != threads || Math.abs(weight - seconds) > 1e-5 * (1 + profiles.length)) {
                console.log(`${profiles.length} profiles of ${weight} s, not ${threads} of ${seconds} s`);
                process.exit(1);
            }' "$work/ours-$number.json" "$threads" "$seconds" || {
            fail "speedscope: ${names[number]}"
            continue
        }
        sum=$((sum + 1))
    done
    [ "$sum" -gt 0 ] || fail "speedscope: no text was read"
    echo "speedscope: $sum results are the same and complete"
}

# Prints the branches of one call of hot in a program that is mapped at the address BASE, newest first: the return, the
# loop's jumps back, the call.
# branches PROGRAM BASE
branches() {
    objdump -d --no-show-raw-insn "$1" | tr -d : | awk '
        NF == 2 && $2 == "<hot>" { inside = "hot"; entry = $1 }
        NF == 2 && $2 == "<main>" { inside = "main" }
        /^$/ { inside = "" }
        called { back = $1; called = 0 }
        inside == "hot" && $2 ~ /^jn/ { jump = $1; start = $3 }
        inside == "hot" && $2 ~ /^ret/ { ret = $1 }
        inside == "main" && $2 ~ /^call/ { call = $1; called = 1 }
        END {
            print ret, back
            for (i = 1; i < 15; i++) print jump, start
            print call, entry
        }' | while read -r from to; do
        printf '%x:%x\n' $(($2 + 0x$from)) $(($2 + 0x$to))
    done
}

# Checks a profile against the samples. In each of 1000, hot was called, ran the body of its loop 15 times, and returned.
# complete NAME PROFILE
complete() {
    local start line
    start=$(grep -n 'long hot(' "$check/hot.c" | cut -d: -f1)
    line=$(grep -n 'sum += n' "$check/hot.c" | cut -d: -f1)
    # With call chains, functions may be in brackets.
    grep -qE '^\[?hot\]?:[0-9]+:1000$' "$2" && grep -qx " $((line - start)): 15000" "$2" && return
    fail "llvm-profgen: $1: 1000 calls and 15000 rounds of hot are not in its profile"
    head -"${LINES_SHOWN:-6}" "$2"
    return 1
}

# make_profile OUT OPTION...
make_profile() {
    local out=$1
    shift
    rm -f "$out"
    timeout 60 "$profgen" --binary="$work/hot" --format=text --output="$out" "$@" >"$work/errors" 2>&1
}

profile() {
    local kind chain base offset address size sum=0
    local capture=$work/branches.data
    mkdir "$work/bin"
    ln -s "$perfdata" "$work/bin/perf"
    for kind in no-pie pie; do
        gcc -g -O0 "-$kind" -fPIE -o "$work/hot" "$check/hot.c" || fail "gcc -$kind"
        base=0
        [ $kind = no-pie ] || base=0x555555554000
        # Of the code.
        read -r offset address size < <(readelf -lW "$work/hot" | awk '/LOAD.* R E / { print $2, $3, $6 }')
        for chain in no-chain chain; do
            # shellcheck disable=SC2046
            "$branch_stacks" "$capture" "$work/hot" "$(printf %x $((base + address)))" "$offset" "$size" 1000 $chain \
                $(branches "$work/hot" $base) || fail "branch_stacks: $kind"
            "$perf" script -i "$capture" -F ip,brstack --show-mmap-events >"$work/perf.txt" 2>/dev/null
            "$perfdata" script -i "$capture" -F ip,brstack --show-mmap-events >"$work/ours.txt"
            for text in perf ours; do
                make_profile "$work/$text.profile" --perfscript="$work/$text.txt" ||
                    fail "llvm-profgen: $kind, $chain: $(head -3 "$work/errors")"
            done
            same "llvm-profgen: $kind, $chain" "$work/perf.profile" "$work/ours.profile" &&
                complete "$kind, $chain" "$work/ours.profile" && sum=$((sum + 1))
            # Without a text, it runs the program perf of PATH, in a folder that it may write to.
            (cd "$work" && PATH=$work/bin:$PATH && make_profile "$work/run.profile" --perfdata="$capture") ||
                fail "llvm-profgen, which runs perfdata: $kind, $chain: $(head -3 "$work/errors")"
            same "llvm-profgen, which runs perfdata: $kind, $chain" "$work/perf.profile" "$work/run.profile" && sum=$((sum + 1))
        done
    done
    echo "llvm-profgen: $sum results are the same and complete"
}

inferno=${INFERNO:-inferno-collapse-perf} speedscope=${SPEEDSCOPE:-} chromium=${CHROMIUM:-chromium-headless-shell}
profgen=${PROFGEN:-llvm-profgen}
write_texts "$@"
! present inferno-collapse-perf "$inferno" || fold
! present speedscope "$speedscope" "$chromium" node || import
if [ "$(uname -m)" != x86_64 ]; then
    missing=$((missing + 1))
    echo "not run: llvm-profgen: the branches are found in x86-64 code"
elif present llvm-profgen "$profgen" gcc objdump readelf; then
    profile
fi
echo "failures: $failures, programs that are not there: $missing"
[ "$failures" = 0 ] || exit 1
[ "$missing" = 0 ] || exit 3
