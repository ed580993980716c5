#!/usr/bin/env bash
# Drives the instructions of a recorded program in tmux: from `perfdata report`, and from `perfdata annotate`.
#
#     annotate_browser.sh PERFDATA
#
# Compiles and records a small program. Exits with 0 if all is as expected, with 1 if not, and with 3 if there is no tmux or gcc.
set -u

if [ $# != 1 ]; then
    echo "usage: annotate_browser.sh PERFDATA" >&2
    exit 2
fi
perfdata=$(realpath "$1")
check=$(cd "$(dirname "$0")" && pwd)
for program in tmux gcc; do
    if ! command -v "$program" >/dev/null; then
        echo "$program is not there" >&2
        exit 3
    fi
done
work=$(mktemp -d)
patience=20
# shellcheck source=testdata/check/tmux.sh
source "$check/tmux.sh"

cd "$work" || exit 1
cat >hot.c <<'C'
__attribute__((noinline)) unsigned callee(unsigned n) {
    unsigned s = 1;
    for (unsigned i = 1; i < n; i++)
        s += 1000000007u / (s | i); /* divides */
    return s;
}
__attribute__((noinline)) unsigned caller(unsigned n) {
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++)
        s = s * 31 + i % 7; /* multiplies */
    return s + callee(n);
}
int main(void) {
    unsigned s = 0;
    for (int i = 0; i < 100; i++)
        s += caller(200000 + i);
    return s == 42;
}
C
gcc -O1 -g -o hot hot.c || exit 1
"$perfdata" record -e cpu-clock:u -F 2000 -o perf.data ./hot >/dev/null 2>&1
opens 110 45

# From a report: the hottest instruction is seen, with its source line, and how to leave.
keys "clear; '$perfdata' report --symbols callee" Enter
sees "shows the keys"
keys a
sees "callee  $work/hot"
sees "/* divides */"
sees "div "
sees "skid"
keys s
for ((tries = 0; tries < 100; tries++)); do
    case $(screen) in *divides*) sleep 0.05 ;; *) break ;; esac
done
case $(screen) in *divides*) fail "s does not hide the source" ;; esac
keys Escape
sees "Overhead"
keys q
sees "shell>"

# The list, a call that is followed, and the way back.
keys "clear; '$perfdata' annotate" Enter
sees "ENTER shows the instructions"
keys q
sees "shell>"
keys "clear; '$perfdata' annotate caller" Enter
sees "caller  $work/hot"
keys /
keys -l "call  "
keys Enter
sees "<callee>"
keys Enter
sees "callee  $work/hot"
keys Escape
sees "caller  $work/hot"
keys q
sees "shell>"

if [ "$failures" != 0 ]; then
    echo "$failures failures" >&2
    exit 1
fi
echo "The instructions are as expected."
