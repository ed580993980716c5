# A terminal in tmux, for the checks of browsers; sourced by them after they have set the folder
# $work and the number of seconds that a text may take, $patience.
# shellcheck shell=bash
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR TMUX PERFDATA_PAGER PERF_PAGER PAGER LESS

tmux() { command tmux -S "$work/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null; rm -rf "$work"' EXIT
failures=0
fail() {
    echo "FAILED: $1" >&2
    failures=$((failures + 1))
}

keys() { tmux send-keys -t browser "$@"; }
screen() { tmux capture-pane -t browser -p; }
# sees TEXT: waits until the screen has a text
sees() {
    for ((tries = 0; tries < patience * 20; tries++)); do
        case $(screen) in *"$1"*) return 0 ;; esac
        sleep 0.05
    done
    fail "waited in vain for '$1':"
    screen >&2
    return 1
}
# opens WIDTH HEIGHT: a shell in the folder
opens() {
    tmux new-session -d -s browser -x "$1" -y "$2" -c "$work" "PS1='shell> ' exec bash --norc --noprofile"
}
