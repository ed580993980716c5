#!/bin/bash
# Dumps the rings of testdata/rings.
#
# usage: rings.sh OUTDIR PERFDATA
#
# PERFDATA is the perfdata program. Needs root, gcc, perf, two cpus with pages of
# 4096 bytes, and perf_event_open. rings.c makes all rings except the pair, which
# perfdata records: call chains of two threads, one ring per cpu, dumped on the
# request for a snapshot. The output of perf script for that snapshot must agree
# with the rings.
set -euo pipefail

scratch=/tmp/perfdata-rings

if [ $# -ne 2 ]; then
	sed -n '4s/^# //p' "$0" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ] || [ ! -e /proc/sys/kernel/perf_event_paranoid ]; then
	echo "rings.sh: needs root, and a kernel with perf_event_open" >&2
	exit 1
fi
if [ "$(getconf PAGE_SIZE)" != 4096 ] || [ "$(nproc)" != 2 ]; then
	echo "rings.sh: needs two cpus, and pages of 4096 bytes" >&2
	exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
if [ "${HOME-}" != $scratch ]; then
	mkdir -p "$1"
	out=$(cd "$1" && pwd)
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=$scratch LC_ALL=C \
		bash "$here/rings.sh" "$out" "$(realpath "$2")"
fi

out=$1
rm -rf $scratch
mkdir -p $scratch/made
cd $scratch
unset OLDPWD
cp "$2" perfdata
gcc -O2 -Wall -Wextra -o rings "$here"/rings.c
gcc -O2 -Wall -Wextra -fno-omit-frame-pointer -no-pie -o workload "$here"/workload.c -lpthread

./rings made

./perfdata record -q -N --overwrite -g -e cpu-clock -F 99 -m 2 --dump-rings pair -o pair.data -- ./workload twins &
recorder=$!
sleep 4
kill -USR2 $recorder
until [ -s pair.data.1 ]; do sleep 0.01; done
kill -INT $recorder
wait $recorder || true
for cpu in 0 1; do
	cp pair/ring.$cpu made/pair-$cpu.ring
done
cp pair/attr.data made/pair.attr.data
python3 "$here"/check/ring.py --perfdata ./perfdata --attr made/pair.attr.data --snapshot pair.data.1 \
	made/pair-0.ring made/pair-1.ring

if strings -a -n 5 made/* | grep -E '/(home|root|work|tmp|opt|mnt|media|srv|var|build)/' | grep -v "$scratch"; then
	echo "rings.sh: these name folders of the machine" >&2
	exit 1
fi
chmod u=rw,go=r made/*
rm -f "$out"/*
mv made/* "$out/"
du -sb "$out"
