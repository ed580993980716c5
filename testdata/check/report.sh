#!/usr/bin/env bash
# Compares `perfdata report` with `perf report --stdio`: each capture with each set of options.
#
#     report.sh PERFDATA PERF [CAPTURE...]
#
# Without captures, compares all of ../captures and ../synthetic, without the files of this machine. Exits with 0 if every
# text is the same, or differs as the table below says. Prints each other difference, and at the end how many comparisons
# there were. report_text.py says what is not compared. The texts that differ only in the order of what has the same
# percentage, or in what perf cuts of names, are counted separately.
#
# The programs find the files of the captures with SYMBOLS=1, for captures that were recorded on this machine.
set -u

if [ $# -lt 2 ]; then
    echo "usage: report.sh PERFDATA PERF [CAPTURE...]" >&2
    exit 2
fi
perfdata=$1 perf=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- "$here"/captures/* "$here"/synthetic/*

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${SYMBOLS:-}" ]; then
    # perf has no option to find no names.
    mkdir "$work/none"
    nowhere=(--symfs "$work/none" --kallsyms /dev/null)
    unnamed=(--symfs "$work/none" --no-symbols)
else
    nowhere=()
    unnamed=()
fi

# The options of one comparison on each line. After CHILDREN, addresses without a name are not compared.
options() {
    cat <<'END'
--no-children
--no-children -g none
--no-children -g none -n --show-total-period
--no-children -g fractal,0.5
--no-children -g fractal,5,caller
--no-children -g flat,1
--no-children -g folded,1,callee
--no-children -g folded,0.5,count
--no-children -g graph,0.5,period
--no-children -g graph,0.5,3
--no-children -G
--no-children --percent-limit 2
--no-children -g none --sort comm
--no-children -g none --sort dso
--no-children -g none --sort sym
--no-children -g none --sort pid
--no-children -g none --sort cpu
--no-children -g none --sort comm,pid,cpu
--no-children -g none --sort cgroup
--no-children -g none --sort cgroup_id
--no-children -g none --sort time
--no-children -g none --sort time --ns --time-quantum 10ms
--no-children -g none --sort local_weight
--no-children -g none --sort weight,comm
--no-children -g none --sort trace
--no-children -g none --sort comm,dso --time 10%-60%
--no-children -g none --sort sym --cpu 0
--no-children -g none --comms workload
--no-children -g none --sort comm,sym --comms workload,deep-cpp-fp --percentage relative
--no-children -g none -F overhead,sample,period,comm
--no-children -g none -F dso,overhead,overhead_sys,overhead_us
--no-children -g none -F +period -s dso
--no-children -g none --show-cpu-utilization -s comm
--no-children -g none -s +cpu
--no-children -g none -t, -n
--no-children -g none -w 10,6,8
--no-children -g none -s parent -p ^main$
--no-children -g none -s comm -x -p start
--no-children -g none --no-branch-stack
--no-children -g none --no-group
--no-children -g none -s socket,comm
--no-children -g none -s socket -w 9,8
--no-children -g none -s transaction
--no-children -g none -s dso,dso_size
--no-children -g none -s Symbol_size
--no-children -g none -s addr
--no-children -g none -s code_page_size,cpu
--no-children -g none -s local_ins_lat,ins_lat
--no-children -g none -s code_page_size,transaction,addr -t,
--mem-mode
--mem-mode -g none
--mem-mode -g none -s mem,snoop
--mem-mode -g none -s addr,mem,snoop
--mem-mode -g none -s Symbol_daddr,dso_daddr -n
--mem-mode -g none -s Symbol_iaddr,locked,blocked
--mem-mode -g none -s dcacheline,tlb --show-total-period
--mem-mode -g none -s phys_daddr,data_page_size
--mem-mode -g none -s +comm
--mem-mode -g none -s data_page_size,phys_daddr -t,
-b
-b -s srcline_from,srcline_to
-b -s addr_from,addr_to
-b -s symbol_from,dso_to,mispredict,cycles
-b -s comm,dso_from,in_tx,abort
-g none --sort comm
-g none --sort dso
-g none --sort comm,dso -n
--sort comm
--sort dso -g caller
--sort comm,dso -g callee
--sort comm -g fractal,1,caller
--sort cpu,dso --no-group
CHILDREN
CHILDREN -g none
CHILDREN -g callee
CHILDREN -g callee,fractal,1
CHILDREN -g folded,1
CHILDREN -G
CHILDREN --sort sym
CHILDREN --sort dso,sym -g caller,3,address
CHILDREN --max-stack 3 -g callee
END
}

# Known differences: a pattern of the capture's name, a pattern of the options, the reason.
known() {
    cat <<'END'
dwarf.data|*|perf finds no unwind tables without the files; perfdata may find some by build id.
everything.data|*|As above.
registers.*|*|perf prints no stack without the files; perfdata prints the frame that the registers have.
stack_zero.*|*|As above.
*.pipe.data|*|perf looks for stacks and tracepoints before it has read which events a stream has.
contexts.*|*|perf drops samples of guests whose virtual machine no record names.
records.*|*|A FORK record has the process id of another thread, which is then a new process; perf keeps the thread. Also, bytes of names that are not UTF-8 are escaped.
raw.data|-b*|perf takes -b for nothing if all events are tracepoints.
uprobe.data|-b*|As above.
tracing.pipe.data|-b*|As above.
memory.*|*-s mem,snoop|perf compares only some of the bits that it prints, and so has accesses in rows that are not of them.
script_fields.*|-b -s addr_from*|perf has the letter of the sample's code, not that of the branch.
branches.*|-b -s addr_from*|As above.
raw.data|--mem-mode*|perf takes tracepoints alone for samples that tell where data was found.
uprobe.data|--mem-mode*|As above.
branches.*|-b|perf prints 65535 cycles as -1.
branches.*|-b -s symbol_from*|perf takes the key for symbol, and adds a column that it leaves empty.
dispatch.*|*--sort time*|A sample without a time has the time 0; perf prints -1 as an unsigned number.
identifier.data|*|perf counts samples without a call chain with the chain of the sample before.
raw.data|*--comms*|perf decides by the first sample of a row whether all of it is selected.
END
}

is_known() {
    local capture options
    while IFS='|' read -r capture options _; do
        # Both are patterns on purpose.
        # shellcheck disable=SC2254
        case $1 in $capture) case $2 in $options) return 0 ;; esac ;; esac
    done < <(known)
    return 1
}

# Compares one capture with each set of options. Prints the differences, and then the counts.
compare() {
    local file=$1 work=$2 name addresses same=0 ties=0 cut=0 listed=0 refused=0 differing=0
    name=$(basename "$file")
    mkdir "$work"
    while IFS= read -r option; do
        # Without names, all rows of callers differ.
        case $option in CHILDREN*) [ -n "${SYMBOLS:-}" ] || continue ;; esac
        read -ra words <<<"${option#CHILDREN}"
        case $option in CHILDREN*) addresses=--addresses ;; *) addresses= ;; esac
        if ! timeout 100 "$perf" report --stdio --no-inline "${nowhere[@]}" -i "$file" "${words[@]}" </dev/null >"$work/perf.raw" 2>"$work/perf.errors"; then
            refused=$((refused + 1))
            continue
        fi
        # Without samples, perf prints nothing but an error.
        if ! grep -q '^# Samples' "$work/perf.raw"; then
            refused=$((refused + 1))
            continue
        fi
        timeout 100 "$perfdata" report --no-inline "${unnamed[@]}" "$file" "${words[@]}" </dev/null >"$work/perfdata.raw" 2>"$work/errors"
        # shellcheck disable=SC2086
        python3 "$here/check/report_text.py" $addresses "$work/perf.raw" "$work/perfdata.raw" >"$work/diff"
        case $? in
            0) same=$((same + 1)) ;;
            3) ties=$((ties + 1)) ;;
            4) cut=$((cut + 1)) ;;
            *)
                if is_known "$name" "$option"; then
                    listed=$((listed + 1))
                else
                    differing=$((differing + 1))
                    echo "$name: $option"
                    head -"${LINES_SHOWN:-6}" "$work/diff" | cut -c1-160
                    head -2 "$work/errors"
                fi
                ;;
        esac
    done < <(options)
    echo "$same $ties $cut $listed $refused $differing" >"$work.counts"
}

number=0
for file in "$@"; do
    number=$((number + 1))
    # A perf that crashes has refused the file; bash need not report it.
    compare "$file" "$work/$number" 2>/dev/null &
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-4}" ]; do
        wait -n
    done
done
wait
cat "$work"/*.counts | {
    same=0 ties=0 cut=0 listed=0 refused=0 differing=0
    while read -r a b c d e f; do
        same=$((same + a)) ties=$((ties + b)) cut=$((cut + c))
        listed=$((listed + d)) refused=$((refused + e)) differing=$((differing + f))
    done
    echo "same: $same, but for ties: $ties, for cut names: $cut, known differences: $listed, refused by perf: $refused, other differences: $differing"
    [ "$differing" -eq 0 ]
}
