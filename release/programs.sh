# The static programs of a release; sourced by make.sh. Not a program.
# shellcheck shell=bash disable=SC2154,SC2034 # make.sh sets root, profile

# compiler TARGET: the C compiler of a target, for zstd.
compiler() {
    case $1 in
        x86_64-*) echo musl-gcc ;;
        aarch64-*) echo aarch64-linux-gnu-gcc ;;
        *) echo "release: no C compiler is known for $1; add it to release/programs.sh" >&2 && return 1 ;;
    esac
}

# program TARGET: builds perfdata for a target, and sets `program` to its path.
program() {
    local target=$1 cc cargo_home=${CARGO_HOME:-$HOME/.cargo} sources
    cc=$(compiler "$target")
    if ! command -v "$cc" >/dev/null; then
        echo "release: $cc is missing (Debian: musl-tools for x86_64, gcc-aarch64-linux-gnu for aarch64)" >&2
        return 1
    fi
    # Paths get into panic messages. The names that replace them are the same on every machine.
    sources=$(rustc --print sysroot)/lib/rustlib/src/rust
    local flags=(
        "--remap-path-prefix=$root=/perfdata" "--remap-path-prefix=$CARGO_TARGET_DIR=/target"
        "--remap-path-prefix=$cargo_home=/cargo" "--remap-path-prefix=$sources=/rust"
        # The linker that comes with Rust, the same for all targets.
        -Clinker=rust-lld -Ctarget-feature=+crt-static
    )
    env "CC_${target//-/_}=$cc" "CFLAGS_${target//-/_}=-ffile-prefix-map=$cargo_home=/cargo" \
        "CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")" \
        cargo build --locked --profile "$profile" -p perf-cli --bin perfdata --target "$target"
    program=$CARGO_TARGET_DIR/$target/${profile/#dev/debug}/perfdata
}
