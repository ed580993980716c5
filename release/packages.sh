# The packages of a release; sourced by make.sh. Not a program.
# shellcheck shell=bash disable=SC2154,SC2034 # make.sh sets stage, version, targets, dist

# documents PROGRAM OUT: completions and manual pages.
documents() {
    mkdir -p "$2/completions" "$2/man"
    "$1" completions bash >"$2/completions/perfdata.bash"
    "$1" completions zsh >"$2/completions/_perfdata"
    "$1" completions fish >"$2/completions/perfdata.fish"
    "$1" man "$2/man"
}

# contents TARGET PROGRAM OUT: the folder that is packed.
contents() {
    local target=$1 program=$2 out=$3
    mkdir -p "$out"
    install "$program" "$out/perfdata"
    cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$out"
    cp -r "$stage/documents/." "$out"
    python3 release/inventory.py "$target" "$out"
    # Files that were copied may have other permissions than those that were checked out elsewhere.
    chmod -R u=rwX,go=rX "$out"
}

# archive FOLDER DIST
archive() {
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -C "${1%/*}" -c "${1##*/}" | gzip -9n >"$2/${1##*/}.tar.gz"
}

debian_name() {
    case $1 in x86_64-*) echo amd64 ;; aarch64-*) echo arm64 ;; esac
}

# deb TARGET FOLDER DIST: the same files, where Debian expects them.
deb() {
    local tree=$stage/deb-$1 from=$2 architecture documentation
    architecture=$(debian_name "$1")
    documentation=$tree/usr/share/doc/perfdata
    install -D "$from/perfdata" "$tree/usr/bin/perfdata"
    install -Dm644 "$from/completions/perfdata.bash" "$tree/usr/share/bash-completion/completions/perfdata"
    install -Dm644 "$from/completions/_perfdata" "$tree/usr/share/zsh/vendor-completions/_perfdata"
    install -Dm644 "$from/completions/perfdata.fish" "$tree/usr/share/fish/vendor_completions.d/perfdata.fish"
    install -Dm644 -t "$tree/usr/share/man/man1" "$from"/man/*.1
    gzip -9n "$tree"/usr/share/man/man1/*
    install -Dm644 -t "$documentation" "$from"/{README.md,THIRD-PARTY.txt,THIRD-PARTY-rust-std.html,perfdata.cdx.json}
    { cat "$from/LICENSE-MIT" && echo && cat "$from/LICENSE-APACHE"; } >"$documentation/copyright"
    gzip -9n <"$from/CHANGELOG.md" >"$documentation/changelog.gz"
    mkdir "$tree/DEBIAN"
    # Without dependencies: the program is static.
    cat >"$tree/DEBIAN/control" <<END
Package: perfdata
Version: $version-1
Architecture: $architecture
Maintainer: The perf-abi authors <noreply@perf-abi.invalid>
Section: devel
Priority: optional
Homepage: https://github.com/perf-abi/perf-abi
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Description: reads and records Linux performance captures
 perfdata reports where the time of a program went, from a capture that perf
 record or perfdata record wrote: reports, flame graphs, exports to the formats
 of other tools. It reads captures of any kernel, machine and byte order.
END
    find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zgzip --build "$tree" "$3/perfdata_$version-1_$architecture.deb"
}

# formula: Homebrew's, for the archives that were built.
formula() {
    local target url sum
    cat <<END
class Perfdata < Formula
  desc "Reads and records Linux performance captures (perf.data)"
  homepage "https://github.com/perf-abi/perf-abi"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  # macOS has no archive: brew install --HEAD builds perfdata there, without the verbs that need Linux.
  head do
    url "https://github.com/perf-abi/perf-abi.git", branch: "main"
    depends_on "rust" => :build
  end
END
    echo
    echo "  on_linux do"
    for target in "${targets[@]}"; do
        url=https://github.com/perf-abi/perf-abi/releases/download/v$version/perfdata-$version-$target.tar.gz
        sum=$(sha256sum "$dist/perfdata-$version-$target.tar.gz")
        cat <<END
    on_$(case $target in x86_64-*) echo intel ;; *) echo arm ;; esac) do
      url "$url"
      sha256 "${sum%% *}"
    end
END
    done
    echo "  end"
    cat <<'END'

  def install
    if build.head?
      system "cargo", "install", *std_cargo_args(path: "perf-cli")
      generate_completions_from_executable(bin/"perfdata", "completions")
      system bin/"perfdata", "man", "man"
    else
      bin.install "perfdata"
      bash_completion.install "completions/perfdata.bash" => "perfdata"
      zsh_completion.install "completions/_perfdata"
      fish_completion.install "completions/perfdata.fish"
    end
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/perfdata --version")
  end
end
END
}
