#!/usr/bin/env bash
# Opens pages of annotated functions in a headless Chromium, by annotation.mjs: one of functions that no program has, some with
# names and source lines that look like HTML, one of 20,000 instructions; and a flame graph whose functions have instructions.
#
#     annotation.sh ANNOTATED_PAGES
#
# The argument is the program of the example annotated_pages of perf-export. CHROMIUM names the browser. Exits with 1 if a page
# is wrong, with 3 if a program is not there.
set -euo pipefail

check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
annotated_pages=$1
chromium=${CHROMIUM:-chromium-headless-shell}
for program in "$chromium" node; do
    command -v "$program" >/dev/null || {
        echo "not run: $program is not there"
        exit 3
    }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

timeout 120 "$annotated_pages" "$check/../captures/callchain.data" "$work"
timeout 120 node "$check/annotation.mjs" "$chromium" "$work"
