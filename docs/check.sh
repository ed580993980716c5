#!/usr/bin/env bash
# docs/check.sh PERFDATA: runs every block of commands (```sh) of the book, and checks its links and its chapter on the format.
#
# Each chapter runs in a copy of testdata/captures. A block ends with status 0, with 3 if it is marked `exit3`. Blocks marked
# `record` need perf_event_open, and are skipped where it is refused. Those marked `release` build for minutes: release/check.sh
# and the parts `install` and `parquet` of .ci build the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PERFDATA=$(realpath "${1:?the program perfdata}")
export PERFDATA PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$PERFDATA" "$scratch/bin/perfdata"
export PATH="$scratch/bin:$PATH" HOME=$scratch
root=$(realpath ..)
can_record=1
perfdata record -o "$scratch/probe.data" -- true 2>/dev/null || can_record=

ran=0 skipped=0 elsewhere=0
# run_block MARKS FILE: in the copy of the chapter.
run_block() {
    local wanted=0 status=0
    case $1 in
        *release*) elsewhere=$((elsewhere + 1)); return ;;
        *record*) [ -n "$can_record" ] || { skipped=$((skipped + 1)); return; } ;;
        *exit3*) wanted=3 ;;
    esac
    (cd "$chapter/testdata/captures" && bash -euo pipefail "$2") >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    if [ "$status" != "$wanted" ]; then
        echo "$name: status $status instead of $wanted:" >&2
        cat "$2" "$scratch/err" >&2
        exit 1
    fi
    ran=$((ran + 1))
}

for file in src/*.md; do
    name=$(basename "$file" .md)
    chapter=$scratch/$name
    mkdir -p "$chapter/testdata"
    cp -r "$root/testdata/captures" "$chapter/testdata"
    ln -s "$root"/testdata/{synthetic,foreign} "$chapter/testdata"
    ln -s "$root/docs" "$chapter/docs"
    awk -v out="$scratch/$name" '
        /^```sh/ { marks = $0; sub(/^```sh,?/, "", marks); n++; block = sprintf("%s.%02d.%s.block", out, n, marks); printf "" >block; next }
        /^```/ { block = ""; next }
        block { print >block }' "$file"
    for block in "$scratch/$name".*.block; do
        [ -e "$block" ] || continue
        marks=${block%.block}
        run_block "${marks##*.}" "$block"
    done
    rm -rf "$chapter"
done

# Links to other chapters, and files of the repository.
while IFS=: read -r file link; do
    case $link in
        https://github.com/perf-abi/perf-abi/*/main/*) path=${link#*/main/} target=$root/${path%%#*} ;;
        http*://*) continue ;;
        '#'*) continue ;;
        *) target=src/${link%%#*} ;;
    esac
    [ -e "$target" ] || { echo "$file: $link leads nowhere" >&2; exit 1; }
done < <(grep -oHE '\]\([^)]+\)' src/*.md | sed 's/:](/:/; s/)$//')

# What first-minute.md shows of a report is in it.
perfdata report --stdio --no-children -g none --sort comm,dso "$root/testdata/captures/callchain.data" 2>/dev/null |
    sed 's/ *$//' >"$scratch/report"
awk '/^```text/ { on = 1; next } /^```/ { on = 0 } on' src/first-minute.md | sed 's/ *$//' | while IFS= read -r line; do
    grep -qxF -- "$line" "$scratch/report" || { echo "first-minute.md: not in the report: $line" >&2; exit 1; }
done
echo "$ran blocks of commands ran, $elsewhere are run by other checks"
if [ "$skipped" != 0 ]; then
    echo "skipped: $skipped blocks, because perf_event_open is refused here"
fi
