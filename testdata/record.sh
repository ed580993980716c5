#!/bin/bash
# Records the captures of testdata/captures with the system's perf.
#
# usage: record.sh OUTDIR [CAPTURE]...      every capture if none is named
#        record.sh --list
#
# Needs root, gcc, ld -m elf_i386, perf 6.1 or newer, and tracefs. Each capture
# has a function of the same name; README.md lists their contents. They are
# recorded in a separate folder, with a minimal environment, and the commands are
# built there. The script refuses a capture that is too large, or that contains
# the name of another folder of the machine.
set -euo pipefail

scratch=/tmp/perfdata-captures
limit=307200
max_rate=/proc/sys/kernel/perf_event_max_sample_rate

captures=(
	plain callchain dwarf raw group_read ids identifier switch namespaces cgroups
	buildid_mmap intr_regs user_regs user_regs_32 mem everything maps tasks
	inherit_stat lost throttle bpf breakpoint uprobe overwrite perf_stat
	system_wide killed tracing.pipe buildid.pipe touch.zstd compressed.zstd.pipe
	threads.dir
)

# perf record, quiet, and without a copy of every binary in ~/.debug.
record() { perf record --quiet --no-buildid-cache "$@"; }

# --- file mode ---------------------------------------------------------------

plain() { record -e page-faults -c 1 -o "$1" -- ./workload touch 40; }
callchain() { record -g -e cpu-clock -F 8000 -o "$1" -- ./workload touch 6000; }
dwarf() { record --call-graph dwarf,1024 -e page-faults -c 4 -o "$1" -- ./workload touch 150; }
raw() { record -e raw_syscalls:sys_enter -e sched:sched_process_exec -o "$1" -- ./workload execs 2; }
group_read() {
	record -e '{cpu-clock,page-faults,context-switches}:S' -F 4000 -o "$1" -- ./workload touch 6000
}
# If the sample types are equal, perf records ID. If not, it records IDENTIFIER.
ids() { record -e page-faults -e context-switches -e cpu-migrations -c 1 -o "$1" -- ./workload pings 40; }
identifier() {
	record -e page-faults/period=1/ -e cpu-clock/freq=4000,call-graph=fp/ \
		-e context-switches/period=1,name=switches/ -o "$1" -- ./workload threads 2
}
switch() { record --switch-events -e cpu-clock -F 8000 -o "$1" -- ./workload pings 50; }
namespaces() { record --namespaces -e page-faults -c 8 -o "$1" -- ./workload unshares 3; }
cgroups() {
	CGROUP_ROOT=$(findmnt -nt cgroup2 -o TARGET | head -n 1) \
		record --all-cgroups -e page-faults -c 8 -o "$1" -- ./workload cgroups 3
}
buildid_mmap() { record --buildid-mmap -e page-faults -c 8 -o "$1" -- ./workload execs 2; }
intr_regs() { record --intr-regs -e cpu-clock -F 4000 -o "$1" -- ./workload spin 100; }
user_regs() { record --user-regs=ax,sp,ip,r15 -e cpu-clock -F 4000 -o "$1" -- ./workload touch 3000; }
user_regs_32() { record --user-regs=ax,sp,ip -e cpu-clock -F 4000 -o "$1" -- ./workload-32; }
mem() {
	record --data --phys-data --data-page-size --code-page-size --weight --transaction \
		-e page-faults -c 1 -o "$1" -- ./workload touch 60
}
everything() {
	record --call-graph dwarf,512 --intr-regs --data --phys-data --data-page-size --code-page-size \
		--weight --transaction --all-cgroups --sample-cpu --raw-samples --period --namespaces \
		--switch-events --stat --clockid CLOCK_MONOTONIC \
		-e '{page-faults,cpu-clock}:S' -e raw_syscalls:sys_exit -c 3 -o "$1" -- ./workload touch 60
}
maps() { record --data -e page-faults -c 16 -o "$1" -- ./workload maps 12; }
tasks() { record -e page-faults -c 8 -o "$1" -- ./workload execs 4; }
inherit_stat() {
	record --stat -e page-faults/period=16/ -e task-clock/period=1000000/ -o "$1" -- ./workload threads 3
}
# One CPU, a one-page ring, and a writer with a higher priority than perf. perf
# runs only while the writer rests, so every burst overflows the ring.
lost() {
	taskset -c 0 perf record --quiet --no-buildid-cache -m 1 -e page-faults -c 1 \
		-o "$1" -- chrt -f 1 ./workload bursts 10
}
# The kernel throttles at max_sample_rate / HZ samples per tick. The function
# lowers that rate while it records.
throttle() (
	trap "echo $(<$max_rate) >$max_rate" EXIT
	echo 2000 >$max_rate
	record -e cpu-clock -c 100000 -o "$1" -- ./workload spin 200
)
bpf() { record -e page-faults -c 16 -o "$1" -- ./workload bpfs 3; }
breakpoint() {
	local watched
	watched=$(nm workload | awk '$3 == "watched" { print $1 }')
	record --data -e "mem:0x$watched/8:w" -c 1 -o "$1" -- ./workload probes 40
}
uprobe() (
	perf probe --quiet --exec ./workload --add 'capture:probed=probed n=%di:u64'
	trap 'perf probe --quiet --del capture:probed' EXIT
	record -e capture:probed -o "$1" -- ./workload probes 40
)
# The ring is written backward: the newest record comes first.
overwrite() {
	record --overwrite --switch-output=signal -m 4 -e page-faults -c 1 -o "$1" -- ./workload touch 600
	mv "$1".2* "$1"
}
perf_stat() {
	perf stat record -I 20 -e page-faults,task-clock -o "$1" -- ./workload spin 400 2>/dev/null
}
# All CPUs, recorded inside a pid namespace: tasks outside of it have pid 0.
system_wide() {
	unshare --pid --fork --mount-proc perf record --quiet --no-buildid-cache -a --switch-events \
		--user-regs=sp,ip -e cpu-clock -F 2000 -o "$1" -- ./workload pings 150
}
# Kills perf before it has written the data size, build ids and features.
killed() {
	perf record --quiet --no-buildid-cache -m 1 -e page-faults -c 1 -o "$1" -- ./workload bursts 1000 &
	until [ -e "$1" ] && [ "$(stat -c %s "$1")" -gt 16384 ]; do sleep 0.01; done
	kill -KILL $!
	{ wait $! || true; } 2>/dev/null
}

# --- pipe, compressed, directory -------------------------------------------------

tracing.pipe() { record -e raw_syscalls:sys_enter -o - -- ./workload touch 10 >"$1"; }
buildid.pipe() { record -e page-faults -c 4 -o - -- ./workload touch 40 | perf inject --build-ids -o "$1"; }
touch.zstd() { record -z -e page-faults -c 1 -o "$1" -- ./workload touch 1500; }
compressed.zstd.pipe() { record -z -g -e page-faults -c 1 -o - -- ./workload touch 1500 >"$1"; }
threads.dir() { record --threads -e task-clock -F 2000 -o "$1" -- ./workload threads 4; }

# --------------------------------------------------------------------------------

# A 64-bit workload, and a 32-bit one, whose registers have the 32-bit ABI.
build() {
	gcc -O2 -Wall -Wextra -fno-omit-frame-pointer -no-pie -o workload "$1"/workload.c -lpthread
	as --32 -o workload-32.o - <<-'ASM'
		.globl _start
		_start:	mov $60000000, %ecx
		1:	dec %ecx
			jnz 1b
			mov $1, %eax
			xor %ebx, %ebx
			int $0x80
	ASM
	ld -m elf_i386 -o workload-32 workload-32.o
}

# Fails if a capture is too large or names a folder that is not a system folder.
accept() {
	local size foreign
	size=$(du -sb "$1" | cut -f 1)
	if [ "$size" -gt $limit ]; then
		echo "record.sh: $1: $size bytes, more than $limit" >&2
		return 1
	fi
	foreign=$(find "$1" -type f -exec strings -a -n 5 {} + |
		grep -E '/(home|root|work|tmp|opt|mnt|media|srv|var|build)/' | grep -vE "$scratch(/|\$)" || true)
	if [ -n "$foreign" ]; then
		printf 'record.sh: %s names:\n%s\n' "$1" "$foreign" >&2
		return 1
	fi
}

if [ "${1-}" = --list ]; then
	printf '%s\n' "${captures[@]}"
	exit
fi
if [ $# -lt 1 ]; then
	sed -n '4,5s/^# //p' "$0" >&2
	exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
if [ "${HOME-}" != $scratch ]; then
	mkdir -p "$1"
	out=$(cd "$1" && pwd)
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=$scratch LC_ALL=C bash "$here/record.sh" "$out" "${@:2}"
fi

out=$1
shift
mkdir -p $scratch
cd $scratch
unset OLDPWD
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
build "$here"
for capture in "${@:-${captures[@]}}"; do
	case $capture in
	*.dir) file=$capture ;;
	*) file=$capture.data ;;
	esac
	rm -rf "$file"
	"$capture" "$file"
	accept "$file"
	chmod -R u=rwX,go=rX "$file"
	rm -rf "${out:?}/$file"
	mv "$file" "$out/"
	echo "$capture: $(du -sb "$out/$file" | cut -f 1) bytes"
done
