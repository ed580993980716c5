#!/usr/bin/env bash
# Opens what perfdata export writes for viewers of profiles in the viewers' own programs, and compares what they read.
#
#     viewers.sh PERFDATA CAPTURE...
#
# SPEEDSCOPE is speedscope's index.html, CHROMIUM a headless Chromium, PROFILER_CLI the script of
# @firefox-devtools/profiler-cli. The exit status is 1 if anything differs, and 3 if a program is not there.
set -uo pipefail
check=$(dirname "${BASH_SOURCE[0]}")
perfdata=$1
shift
speedscope=${SPEEDSCOPE:-} chromium=${CHROMIUM:-chromium-headless-shell} profiler_cli=${PROFILER_CLI:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PROFILER_CLI_SESSION_DIR=$work/sessions

# shellcheck source=testdata/check/programs.sh
. "$check/programs.sh"

# write FORMAT CAPTURE OUT
write() {
    timeout 60 "$perfdata" export --to "$1" -o "$3" "$2" 2>"$work/errors" </dev/null
    # 3: the capture is damaged, but was exported.
    case $? in 0 | 3) ;; *) fail "perfdata: $2: $(head -1 "$work/errors")" ;; esac
}

if present speedscope "$speedscope" "$chromium" node; then
    files=() sum=0
    for number in $(seq $#); do
        write speedscope "${!number}" "$work/$number.json"
        files+=("$work/$number.json" "$work/$number.saved")
    done
    timeout 600 node "$check/speedscope.mjs" "$chromium" "$speedscope" "${files[@]}" || fail "speedscope: failed"
    for number in $(seq $#); do
        if node "$check/viewers.mjs" speedscope "$work/$number.json" "$work/$number.saved"; then
            sum=$((sum + 1))
        else
            fail "speedscope: ${!number}"
        fi
    done
    echo "speedscope: $sum profiles are read as they were written"
fi
if present profiler-cli "$profiler_cli" node; then
    sum=0
    for file in "$@"; do
        write firefox "$file" "$work/firefox.json"
        if timeout 120 node "$check/viewers.mjs" firefox "$work/firefox.json" "$profiler_cli"; then
            sum=$((sum + 1))
        else
            fail "profiler-cli: $file"
        fi
    done
    echo "profiler-cli: $sum profiles are read as they were written"
fi
echo "failures: $failures, programs that are not there: $missing"
[ "$failures" = 0 ] || exit 1
[ "$missing" = 0 ] || exit 3
