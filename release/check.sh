#!/usr/bin/env bash
# release/check.sh [--once | DIST]: whether a release of this commit installs, from what release/make.sh builds.
#
#   builds it twice, in two folders, and compares the bytes. With --once, an unoptimized program is built once; what make.sh
#   already built into DIST is not built again
#   unpacks the archives and runs their programs, those of other machines by qemu
#   installs the .deb in a clean Debian, reads a capture there as an ordinary user, and removes it
#
# Needs root, debootstrap, qemu-user, and what make.sh needs. The commit is built, not the working tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
capture=testdata/captures/callchain.data
# What every machine answers alike: it needs no symbols.
question=(--stdio --no-children -g none --sort "comm,dso")

# build NAME: a clone in a folder of this name, and its files of the release in `NAME-dist`.
build() {
    git clone --quiet --no-hardlinks "$root" "$scratch/$1"
    CARGO_TARGET_DIR=${2:-$scratch/$1/target} "$scratch/$1/release/make.sh" "$scratch/$1-dist"
}
dist=$scratch/one-dist
case ${1:-} in
    --once) PROFILE=dev TARGETS=$(uname -m)-unknown-linux-musl build one "${CARGO_TARGET_DIR:-$root/target}" ;;
    ?*) dist=$(realpath "$1") ;;
    *)
        build one
        build "a longer name"
        diff -r "$scratch/one-dist" "$scratch/a longer name-dist"
        echo "two builds: the same bytes"
        ;;
esac
(cd "$dist" && sha256sum --check --strict SHA256SUMS)

# Nothing of this machine may be in a program.
for program in "$dist"/image/*/perfdata; do
    if grep -aq -e "$scratch" -e "$HOME/.cargo" -e "$root/" "$program"; then
        echo "$program contains a path of this machine" >&2
        exit 1
    fi
    if readelf -lW "$program" | grep -q INTERP; then
        echo "$program is not static" >&2
        exit 1
    fi
done

# What the program of each archive prints, where this machine can run it.
mkdir "$scratch/unpacked"
native=-$(uname -m)-unknown-linux-musl
# The one for this machine comes first: the others are compared with it.
archives=("$dist"/*"$native".tar.gz)
for archive in "$dist"/*.tar.gz; do
    [[ $archive == *"$native".tar.gz ]] || archives+=("$archive")
done
for archive in "${archives[@]}"; do
    tar -xzf "$archive" -C "$scratch/unpacked"
    folder=$scratch/unpacked/$(basename "$archive" .tar.gz)
    for file in LICENSE-MIT THIRD-PARTY.txt perfdata.cdx.json completions/_perfdata man/perfdata-report.1; do
        [ -s "$folder/$file" ] || { echo "$archive lacks $file" >&2; exit 1; }
    done
    machine=${folder%-unknown-*}
    machine=${machine##*-}
    runner=()
    [ "$machine" = "$(uname -m)" ] || runner=("qemu-$machine")
    if [ ${#runner[@]} -gt 0 ] && ! command -v "${runner[0]}"; then
        echo "NOT RUN: ${runner[0]} is missing (Debian: qemu-user)" >&2
        exit 1
    fi
    "${runner[@]}" "$folder/perfdata" --version
    "${runner[@]}" "$folder/perfdata" report "${question[@]}" "$capture" | grep '^ *[0-9]' >"$folder.report"
    cat "$folder.report"
    cmp "$folder.report" "$scratch"/unpacked/*"$native".report
done

# A Debian with the packages that every Debian has.
clean=$scratch/debian
debootstrap --variant=minbase bookworm "$clean" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$scratch/debootstrap" ||
    { tail "$scratch/debootstrap" >&2; exit 1; }
cp "$dist"/*_"$(dpkg --print-architecture)".deb "$clean/tmp/perfdata.deb"
install -m644 "$capture" "$clean/tmp/perf.data"
inside() { chroot "$clean" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
inside dpkg --install /tmp/perfdata.deb
inside su nobody -s /bin/sh -c "cd /tmp && perfdata info && perfdata report ${question[*]}" >"$scratch/report"
grep '^ *[0-9].*%' "$scratch/report" | cmp - "$scratch"/unpacked/*"$native".report
inside dpkg --verify perfdata
inside dpkg --purge perfdata
if inside sh -c 'command -v perfdata'; then
    echo "the program is still there after the package was removed" >&2
    exit 1
fi
echo "the package installs in a clean Debian, and reads a capture there"
