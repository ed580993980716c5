#!/usr/bin/env bash
# Opens pages of perfdata flamegraph and perfdata diff in a headless Chromium, by flamegraph.mjs: of captures with and
# without stacks, times and samples, of one with names that look like HTML, and of one with very many stacks. Checks that
# pictures are XML.
#
#     flamegraph.sh PERFDATA
#
# CHROMIUM names the browser. Exits with 1 if a page or a picture is wrong, with 3 if a program is not there.
set -euo pipefail

check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
captures=$check/../captures
perfdata=$1
chromium=${CHROMIUM:-chromium-headless-shell}
for program in "$chromium" node python3; do
    command -v "$program" >/dev/null || {
        echo "not run: $program is not there"
        exit 3
    }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failures=0
fail() {
    failures=$((failures + 1))
    echo "$1"
}

# make OUT VERB ARGUMENT...: writes a page or a picture.
make() {
    local out=$1
    shift
    timeout 120 "$perfdata" "$@" -o "$out" >"$work/errors" 2>&1 || {
        # 3: the capture is damaged, but was read.
        [ $? = 3 ] || fail "perfdata $*: $(head -1 "$work/errors")"
    }
}
write() {
    make "$1" flamegraph "${@:2}"
}

# open NAME OPTION...: opens a page.
open() {
    local name=$1
    shift
    timeout 120 node "$check/flamegraph.mjs" "$chromium" "$work/$name.html" "$@" || fail "$name: failed"
}

for name in callchain dwarf everything group_read system_wide raw perf_stat lost; do
    write "$work/$name.html" "$captures/$name.data"
    write "$work/$name.svg" "$captures/$name.data"
    open "$name"
done
write "$work/several.html" "$captures/callchain.data" "$captures/threads.dir" "$captures/callchain.data"
open several

for ending in html svg; do
    make "$work/differences.$ending" diff "$captures/callchain.data" "$captures/system_wide.data"
    make "$work/halves.$ending" diff "$captures/callchain.data" --before time=0%-50% --after time=50%-100%
done
open differences
open halves

# Names that look like HTML: of functions and files.
python3 "$check/many_stacks.py" 100 "$work/hostile.data" "$work/root"
sed -i 's|tail_\(.*\)$|</script><img src=x onerror=alert(\1)>|; s|level_1_1$|<!--<script>alert(1)|; s|main$|]]></title><b>\&amp;"|' \
    "$work"/root/tmp/perf-*.map
mv "$work/hostile.data" "$work/<img onerror=alert(1)>.data"
write "$work/hostile.html" "$work/<img onerror=alert(1)>.data" --symfs "$work/root"
write "$work/hostile.svg" "$work/<img onerror=alert(1)>.data" --symfs "$work/root"
open hostile --hostile

# Of which all is known: functions, lines, times on and off the CPU.
python3 "$check/known_program.py" "$work/known.data" "$work/known"
write "$work/known.html" "$work/known.data" --off-cpu --symfs "$work/known"
open known
timeout 120 node "$check/flamegraph_known.mjs" "$chromium" "$work/known.html" || fail "known: failed"

python3 "$check/many_stacks.py" "${STACKS:-100000}" "$work/many.data" "$work/root"
write "$work/many.html" "$work/many.data" --symfs "$work/root"
open many --big

python3 - "$work"/*.svg <<'PYTHON' || fail "a picture is not XML"
import sys
import xml.etree.ElementTree as tree

for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", path
    assert not root.findall(".//{http://www.w3.org/2000/svg}script"), path
print(f"pictures: {len(sys.argv) - 1} are XML")
PYTHON
echo "failures: $failures"
[ "$failures" = 0 ]
