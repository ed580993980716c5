# Shared by the checks that give what perfdata writes to other programs, which source it: what failed, and which programs
# are not there.

failures=0
fail() {
    failures=$((failures + 1))
    echo "$1"
}

missing=0
# present NAME FILE...: whether the files or commands of a program are there.
present() {
    local name=$1
    shift
    for file in "$@"; do
        if [ ! -e "$file" ] && ! command -v "$file" >/dev/null; then
            missing=$((missing + 1))
            echo "not run: $name: ${file:-it} is not there"
            return 1
        fi
    done
}

# same NAME A B: whether what a program made of both is the same, and not empty.
same() {
    if [ ! -s "$2" ]; then
        fail "$1: empty"
    elif ! cmp -s "$2" "$3"; then
        fail "$1: differs"
        diff -a "$2" "$3" | head -"${LINES_SHOWN:-6}" | cut -c1-200
    else
        return 0
    fi
    return 1
}
