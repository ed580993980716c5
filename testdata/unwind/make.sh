#!/usr/bin/env bash
# Makes the captures of this folder: `make.sh`. Needs qemu-user, and the C compilers for arm64, i686 and 32-bit Arm
# (Debian: qemu-user gcc-aarch64-linux-gnu gcc-i686-linux-gnu gcc-arm-linux-gnueabihf).
#
# NAME.elf is a small program, NAME.data a capture with one sample: the program's registers and its stack, as frames.c printed
# them under qemu. NAME.expected has the return addresses that its functions noted themselves, innermost first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
make_one() {
    local name=$1 machine=$2 compiler=$3 run=$4
    shift 4
    "$compiler" -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fasynchronous-unwind-tables -fno-stack-protector \
        -fno-builtin -ffreestanding -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -Wl,--eh-frame-hdr \
        "$@" -o "$name.elf" frames.c
    "${compiler%gcc}strip" "$name.elf"
    "$run" "./$name.elf" >"$scratch/$name.dump"
    sed -n 's/^noted //p' "$scratch/$name.dump" | tr ' ' '\n' | sed '/^$/d' >"$name.expected"
    cargo run -q -p perf-symbol --example capture_of_dump -- "$machine" "$scratch/$name.dump" "$name.data"
}
make_one aarch64 aarch64 aarch64-linux-gnu-gcc qemu-aarch64
make_one i686 i686 i686-linux-gnu-gcc qemu-i386
# Without .eh_frame, so that .ARM.exidx is all there is.
for code in arm thumb; do
    make_one "$code" armv7l arm-linux-gnueabihf-gcc qemu-arm "-m$code" -fno-asynchronous-unwind-tables -funwind-tables
done
