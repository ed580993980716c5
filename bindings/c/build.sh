#!/usr/bin/env bash
# build.sh PREFIX: builds libperfdata and installs it: PREFIX/include/perfdata.h and perfdata.hpp, PREFIX/lib/libperfdata.a,
# libperfdata.so.0 and perfdata.pc. DESTDIR is put before PREFIX, as in make. Needs Rust and a C compiler.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 PREFIX" >&2; exit 2; }
prefix=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${CARGO_TARGET_DIR:-$here/target}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/Cargo.toml" | head -1)
abi=0

CARGO_TARGET_DIR=$target cargo build --release --locked --lib --manifest-path "$here/Cargo.toml"

include=${DESTDIR:-}$prefix/include
lib=${DESTDIR:-}$prefix/lib
mkdir -p "$include" "$lib/pkgconfig"
install -m 644 "$here/include/perfdata.h" "$here/include/perfdata.hpp" "$include"

# One object of all that the API reaches: its other symbols, those of Rust among them, become local, so that a program can have
# another library of Rust, or another version of a part of this one.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
archive=$target/release/libperfdata.a
nm --defined-only --extern-only "$archive" 2>/dev/null | awk '$3 ~ /^perfdata_/ { print $3 }' | sort -u >"$scratch/api"
sed 's/^/-u /' "$scratch/api" >"$scratch/roots"
${LD:-ld} -r --gc-sections -o "$scratch/perfdata.o" "@$scratch/roots" "$archive"
# Rust's own objects have bitcode, of no use here, on which an `ar` with LLVM's plugin fails.
${OBJCOPY:-objcopy} --keep-global-symbols="$scratch/api" --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd \
    "$scratch/perfdata.o"
rm -f "$lib/libperfdata.a"
${AR:-ar} rcsD "$lib/libperfdata.a" "$scratch/perfdata.o"

# What Rust's standard library needs of the system.
private="-lgcc_s -lpthread -lm -ldl -lc"
soname=libperfdata.so.$abi
# shellcheck disable=SC2086
${CC:-cc} -shared -o "$lib/$soname.$version" -Wl,-soname,"$soname" -Wl,--version-script="$here/perfdata.map" -Wl,-z,defs \
    -Wl,--gc-sections -Wl,--whole-archive "$lib/libperfdata.a" -Wl,--no-whole-archive $private
ln -sf "$soname.$version" "$lib/$soname"
ln -sf "$soname" "$lib/libperfdata.so"

cat >"$lib/pkgconfig/perfdata.pc" <<END
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: perfdata
Description: Captures of Linux perf, with samples, stacks, names and exports
URL: https://github.com/perf-abi/perf-abi
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lperfdata
Libs.private: $private
END
echo "installed libperfdata $version in ${DESTDIR:-}$prefix"
