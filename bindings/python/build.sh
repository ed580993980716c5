#!/usr/bin/env bash
# build.sh OUT [OPTION...]: builds the wheel into OUT, with the licences of what it contains. OPTION is one of maturin, --release by
# default; for PyPI, which wants a wheel for many systems, --release --zig --compatibility manylinux_2_17. Needs Rust, a C compiler,
# python3, and maturin of PyPI in PATH, with ziglang for --zig.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 OUT [OPTION...]" >&2; exit 2; }
out=$(realpath -m "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")"
target=$(rustc -vV | sed -n 's/^host: //p')
inventory=$(mktemp -d)
trap 'rm -rf "$inventory" THIRD-PARTY*' EXIT
python3 ../../release/inventory.py "$target" "$inventory" .
# maturin writes the bill of materials itself.
cp "$inventory"/THIRD-PARTY* .
maturin build --locked --out "$out" "${@:---release}"
