#!/usr/bin/env bash
# Drives the browser of `perfdata report` in tmux, and compares its screens with those in browser/.
#
#     browser.sh PERFDATA
#
# Without symbols and files, as other machines have other files. Only the begin of the bottom line is compared, as it judges
# stacks too. BLESS=1 writes the screens.
#
# Exits with 0 if all is as expected, with 1 if not, and with 3 if there is no tmux.
set -u

if [ $# != 1 ]; then
    echo "usage: browser.sh PERFDATA" >&2
    exit 2
fi
perfdata=$(realpath "$1")
check=$(cd "$(dirname "$0")" && pwd)
captures=$check/../captures
if ! command -v tmux >/dev/null; then
    echo "tmux is not there" >&2
    exit 3
fi
work=$(mktemp -d)
patience=60
# shellcheck source=testdata/check/tmux.sh
source "$check/tmux.sh"
# is NAME: compares the screen
is() {
    local expected=$check/browser/$1.txt
    screen | sed 's/^\([0-9,]* samples: \).*/\1.../' >"$work/now"
    if [ -n "${BLESS:-}" ]; then
        mkdir -p "$check/browser" && cp "$work/now" "$expected"
    fi
    diff -u "$expected" "$work/now" >&2 || fail "the screen $1"
}
# starts ARGUMENT...: opens the browser
starts() {
    keys "clear; '$perfdata' report --no-symbols --symfs . $*" Enter
    sees "shows the keys"
}

opens 100 30
tmux set-option -g remain-on-exit on >/dev/null
keys "stty -g >before" Enter

starts "$captures/callchain.data"
is rows
keys a
sees "the function has no name"
keys Enter
sees "+ 0x7ff9367e424a"
keys Down Enter
sees "40142d"
is chains
keys Up e /
sees "Functions with: _"
keys 142
sees "Functions with: 142_"
is typing
keys Enter
sees "shows the keys"
keys Escape
sees "0x000000000002724a"
keys '?'
sees "Leave"
is help
keys Escape
sees "shows the keys"
keys Down d
sees "DSO: workload"
is zoom

# What is shown, as folded stacks: those with a function of the file.
keys f
sees "written: perfdata.0.folded"
keys f
sees "written: perfdata.1.folded"
"$perfdata" fold --no-symbols "$captures/callchain.data" | grep -F '[workload]' >"$work/expected"
[ -s "$work/expected" ] || fail "no stack has the file"
diff "$work/expected" "$work/perfdata.0.folded" >&2 || fail "folded stacks"
cmp "$work/perfdata.0.folded" "$work/perfdata.1.folded" || fail "the second file"
# The same samples as a flame graph.
keys g
sees "written: perfdata.0.html"
count=$(awk '{ sum += $NF } END { print sum }' "$work/expected")
grep -q "\"total\":{[^}]*\"period\":\"$count\"" "$work/perfdata.0.html" || fail "the flame graph has other samples"
keys Escape
sees "libc.so.6"
keys f
sees "written: perfdata.2.folded"
keys C
"$perfdata" fold --no-symbols "$captures/callchain.data" | diff - "$work/perfdata.2.folded" >&2 || fail "all stacks"
keys P
sees "written: perf.hist.0"
keys P
sees "written: perf.hist.1"
rows=$("$perfdata" report --no-symbols -g none "$captures/callchain.data" | grep -v '^#' | grep -c '%')
[ "$rows" -gt 100 ] && [ "$(grep -v '^#' "$work/perf.hist.0" | grep -c '%')" = "$rows" ] || fail "perf.hist.0 has other rows than the report"

# Another size.
tmux resize-window -t browser -x 60 -y 12
sees "..."
keys Home
sees "153 samples: "
is small
tmux resize-window -t browser -x 100 -y 30
keys Home
sees "0xffffffff815a12b3"
is rows

# Samples of a part of the time are those of --time.
keys T
sees "From,to in seconds"
keys '0%-50%' Enter
sees "Time: 0%-50%"
sees "shows the keys"
is time
keys f
sees "written: perfdata.3.folded"
"$perfdata" fold --no-symbols --time 0%-50% "$captures/callchain.data" | diff - "$work/perfdata.3.folded" >&2 ||
    fail "the folded stacks of a time span"
keys Escape
sees "Samples: 153"

# Ctrl-Z gives the terminal to the shell, and fg takes it again.
keys C-z
sees "Stopped"
keys "stty -g >stopped" Enter fg Enter
sees "shows the keys"
keys q
sees 'shell>'
keys "echo status: \$?; stty -g >after; echo e''nd" Enter
sees "end"
case $(screen) in *"status: 0"*) ;; *) fail "the status of the browser" ;; esac
cmp "$work/before" "$work/stopped" || fail "the terminal is not as before while the browser is stopped"
cmp "$work/before" "$work/after" || fail "the terminal is not as before"

# Events.
starts "$captures/everything.data"
keys Tab
sees "raw_syscalls:sys_exit"
is event
keys Escape
sees "ENTER shows"
is events
keys C-c
sees 'shell>'

# A signal gives the terminal back too, and ends the program.
starts "$captures/callchain.data"
pkill -TERM -P "$(tmux display-message -t browser -p '#{pane_pid}')"
sees "Terminated"
keys "clear; stty -g >after; echo e''nd" Enter
sees "end"
cmp "$work/before" "$work/after" || fail "the terminal is not as before after SIGTERM"

# Text, where it is asked for.
text="report --no-symbols -g none $captures/callchain.data"
keys "clear; TERM=dumb '$perfdata' $text | tail -3; echo e''nd" Enter
sees "# 153 samples"
keys "clear; '$perfdata' --no-pager $text --stdio; echo e''nd" Enter
sees "# 153 samples"
keys "clear; PAGER=cat TERM=dumb '$perfdata' $text; echo e''nd" Enter
sees "# 153 samples"
# A long one goes to the pager, which shows its begin until the user leaves it.
if command -v less >/dev/null; then
    keys "clear; '$perfdata' $text --stdio; echo e''nd" Enter
    sees "Total Lost Samples"
    keys G
    sees "# 153 samples"
    keys q
    sees "shell>"
fi

# Without a terminal there is nothing to show.
starts "$captures/callchain.data"
browser=$(pgrep -P "$(tmux display-message -t browser -p '#{pane_pid}')")
tmux kill-server
for _ in $(seq 100); do
    [ -e "/proc/$browser" ] || break
    sleep 0.1
done
[ ! -e "/proc/$browser" ] || fail "the browser goes on without a terminal"

[ "$failures" = 0 ] && echo "The browser is as expected." || exit 1
