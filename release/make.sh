#!/usr/bin/env bash
# release/make.sh [DIST]: builds all files of a release into DIST (default: dist), which is replaced.
#
# The same commit gives the same bytes in any folder, with the same versions of Rust and the C compilers. Needs Rust by rustup,
# python3, dpkg-deb and C compilers (Debian: musl-tools gcc-aarch64-linux-gnu). Variables: TARGETS (default: both), PROFILE
# (default: release; dev builds faster, to test the packaging).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
dist=$(realpath -m "${1:-dist}")
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}" CARGO_INCREMENTAL=0
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" LC_ALL=C TZ=UTC
export CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_PROFILE_DEV_STRIP=symbols
umask 022
profile=${PROFILE:-release}
read -ra targets <<<"${TARGETS:-x86_64-unknown-linux-musl aarch64-unknown-linux-musl}"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# shellcheck source=release/programs.sh
source release/programs.sh
# shellcheck source=release/packages.sh
source release/packages.sh

rustup target add "${targets[@]}"
declare -A built
for target in "${targets[@]}"; do
    program "$target"
    built[$target]=$program
done

# Completions and manual pages come from the program itself: the one that this machine runs.
native=$(uname -m)-unknown-linux-musl
if [ -z "${built[$native]:-}" ]; then
    echo "release: TARGETS lacks $native, which writes the manual pages" >&2
    exit 1
fi
documents "${built[$native]}" "$stage/documents"

rm -rf "$dist"
mkdir -p "$dist"
for target in "${targets[@]}"; do
    folder=$stage/perfdata-$version-$target
    contents "$target" "${built[$target]}" "$folder"
    archive "$folder" "$dist"
    deb "$target" "$folder" "$dist"
    # For release/Dockerfile.
    install -D "${built[$target]}" "$dist/image/$(debian_name "$target")/perfdata"
    cp "$folder/perfdata.cdx.json" "$dist/perfdata-$version-$target.cdx.json"
done
formula >"$dist/perfdata.rb"
cp release/Dockerfile "$dist/image"
(cd "$dist" && sha256sum -- *.tar.gz *.deb *.cdx.json >SHA256SUMS)
cat "$dist/SHA256SUMS"
