#!/bin/bash
# Records program.c with several versions of perf, has perf inject rewrite the captures, and keeps what the same version prints
# for each. Then keeps what perf prints for captures of ../foreign.
#
# usage: make.sh OUTDIR PERF...
#
# Needs root, gcc, and perf 6.1 or newer, in a folder that has nothing to hide: perf stores its own path. Each PERF writes
# OUTDIR/VERSION, such as OUTDIR/6.1. OUTDIR/files has the program and the images that perf inject makes of jitted functions,
# under their recorded paths.
set -euo pipefail
export LC_ALL=C

scratch=/tmp/perfdata-writers
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift

files=$out/files$scratch
rm -rf $scratch "$out/files"
mkdir -p $scratch "$files"
cd $scratch
unset OLDPWD
gcc -O1 -Wall -Wextra -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-shrink-wrap -fno-stack-protector \
	-fno-builtin -fcf-protection=none -nostdlib -static -Wl,--build-id -Wl,-z,noseparate-code -o program "$here/program.c"
cp program "$files/"
cat >guest.kallsyms <<'SYMBOLS'
ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81001000 T guest_function
ffffffff82000000 T _etext
SYMBOLS
: >guest.modules

# An environment without variables of this machine, and an empty build-id cache.
run() { env -i PATH=/usr/bin:/bin HOME=$scratch LC_ALL=C TZ=UTC PERF_PAGER=cat "$@"; }
record() { run "$perf" record --quiet --no-buildid-cache -e cpu-clock:u -F 1000 "$@"; }
inject() { run "$perf" inject "$@"; }
has() { { "$perf" inject -h 2>&1 || true; } | grep -qe "$1"; }

# What perf prints of a capture, with names from $out/files and the capture alone.
script() {
	run "$perf" --buildid-dir $scratch/none script --no-inline --symfs "$out/files" -i "$@" </dev/null 2>$scratch/errors
}

# Fails if a file names a folder that is not a system folder.
accept() {
	! strings -a -n 5 "$@" | grep -E '/(home|root|work|tmp|opt|mnt|media|srv|var|build)/' |
		grep -vE "($scratch|/tmp/perf-(vdso|[0-9.]+))"
}

for perf in "$@"; do
	version=$("$perf" --version | sed -E 's/perf version ([0-9]+\.[0-9]+).*/\1/')
	rm -rf "${out:?}/$version" made
	mkdir made
	record -g -o plain ./program
	record -g --no-buildid -o bare ./program
	record -g -o - ./program | cat >pipe
	inject -b -i bare -o made/build-ids.data
	inject -b <pipe >made/build-ids.pipe.data
	inject --buildid-all -i bare -o made/buildid-all.data
	if has mmap2-buildids; then
		inject --mmap2-buildids -i bare -o made/mmap2-buildids.data
		inject --mmap2-buildid-all -i bare -o made/mmap2-buildid-all.data
	fi
	if has aslr; then
		inject --aslr -i plain -o made/aslr.data
	fi
	if has convert-callchain; then
		record --call-graph dwarf,512 -o dwarf ./program
		inject --convert-callchain -i dwarf -o made/convert-callchain.data
	fi
	record -g -k mono -o jit ./program jit
	inject --jit -i jit -o made/jit.data
	mv jitted-*.so "$files/"
	run "$perf" record --quiet --no-buildid-cache -g -d --phys-data --weight -e page-faults:u -c 1 \
		-o made/memory.data ./program
	# perf 7.2 crashes after it has written the file.
	run "$perf" kvm --host --guest --guestkallsyms=guest.kallsyms --guestmodules=guest.modules record --quiet \
		-g -e cpu-clock:u -F 1000 -o made/kvm.data ./program || true
	for capture in made/*.data; do
		fields=comm,tid,time,event,ip,sym,dso
		[ "$capture" != made/memory.data ] || fields=addr,$fields
		script "$capture" -F $fields >"${capture%.data}.txt"
	done
	run "$perf" stat record -e page-faults:u,task-clock:u -o made/stat.data ./program 2>made/stat.txt
	accept made/*
	chmod 644 made/*
	mv made "$out/$version"
done

# The captures of other projects: perf's version, the capture, the fields.
foreign=$here/../foreign
mkdir -p "$out/foreign"
for perf in "$@"; do
	version=$("$perf" --version | sed -E 's/perf version ([0-9]+\.[0-9]+).*/\1/')
	while read -r of capture options; do
		if [ "$of" = "$version" ]; then
			read -ra words <<<"$options"
			script "$foreign/$capture" "${words[@]}" | gzip -9n >"$out/foreign/$(basename "$capture").txt.gz"
		fi
	done <"$here/foreign.list"
done
rm -rf $scratch
