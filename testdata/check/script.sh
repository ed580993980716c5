#!/usr/bin/env bash
# Compares `perfdata script` with `perf script`: each capture with each set of fields and options.
#
#     script.sh PERFDATA PERF [CAPTURE...]
#
# Without captures, compares all of ../captures and ../synthetic. Exits with 0 if every output is the same, or differs
# as the table below says. Prints each other difference, and at the end how many comparisons there were.
#
# perfdata prints what perf 6.1 prints. Of a newer perf, some columns are not compared: see normalised. The table has the
# other differences of perf 7.2.
set -u

if [ $# -lt 2 ]; then
    echo "usage: script.sh PERFDATA PERF [CAPTURE...]" >&2
    exit 2
fi
perfdata=$1 perf=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- "$here"/captures/* "$here"/synthetic/*

export LC_ALL=C TZ=${TZ:-UTC} PERF_PAGER=cat PAGER=cat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The options of one comparison on each line.
options() {
    cat <<'END'
-F comm,pid,tid,cpu,time,event
-F -sym,-symoff -G
-F tid,event,trace
-F +flags,+misc,-sym,-symoff -G
-F comm,tid,time,period,event,ip,dso -G
-F comm,pid,time,ip,dso
-F tid,ip,sym,symoff,dso
-F tid,ip,sym,dso -G
-F tid,addr,sym,dso
-F tid,misc,time --ns
-F tid,addr,dso
-F tid,data_src,weight
-F tid,weight,ins_lat
-F ip,dso,iregs -G
-F tid,uregs
-F tid,brstack
-F tid,brstack,dso
-F tid,brstacksym,dso
-F tid,brstackoff,dso
-F ip,insn,insnlen,phys_addr -G
-F tid,brstackinsn,brstackinsnlen
-F tid,phys_addr
-F tid,data_page_size,code_page_size
-F +bpf-output,-ip,-sym,-symoff,-trace
-F tid,event,tod
-F tid,tod --ns
-F machine_pid,vcpu,comm
-F tid,event,flags
-F flags
-F -sym,-symoff -F sw:comm,tid,time -G
-F comm,time --reltime
-F comm,time --deltatime
-F comm,time,ip --max-stack 2
-F comm,tid,time --time 10%/2
-F comm,tid,time --time 0%-30%
-F comm,tid,time --time 10%/1,10%/3
-F comm,tid,time --time 2000,2310.41
-F comm,tid,time --comms workload,perf
-F comm,tid,time --pid 8447,101,8815
-F comm,tid,time --tid 8448,101,8815
-F comm,tid,time,cpu --cpu 0
-F comm,tid,time,cpu --cpu 1-3
-F comm,tid,time,ip,dso --dsos libc.so.6,workload -G
-F comm,pid,tid,time,event --show-task-events --show-mmap-events --show-switch-events --show-lost-events --show-namespace-events --show-cgroup-events --show-bpf-events
-F comm,tid --header
--header-only
END
}

# The perf whose differences are expected.
case $("$perf" --version) in
    "perf version 6.1."*) version=6.1 ;;
    *) version=7.2 ;;
esac

# Prints what can be compared of an output.
normalised() {
    # ld.so begins with a call as the last instruction of _start. perf names the frame after the function at the address
    # that the call returns to, perfdata after the function that has the call.
    # perfdata names PLT entries as newer perfs do: those of local ifuncs *ABS*+0x9ca00@plt, and the others by their order. For perf
    # 6.1 the former are all @plt, and because of them entries of libc have the names of others: without the file in the line, no name of an entry is compared.
    sed -i -E -e 's/ _dl_start_user(\+0x0)?( |$)/ _start\2/; s/ _start\+0x8( |$)/ _start\1/' \
        -e 's/ \*ABS\*\+0x[0-9a-f]+@plt/ @plt/' \
        -e '/libc\.so\.6/ s/ [^ ]*@plt/ @plt/' -e '/\(/! s/ [^ ]*@plt/ @plt/' "$1"
    if [ "$version" = 6.1 ]; then
        cat "$1"
        return
    fi
    # perf 7.2 pads numbers of processes and threads to seven columns instead of five, prints a blank before the file in
    # branches, and prints a frame of user code by its address instead of its offset in the file. Such an address has
    # fewer than 16 digits. check/frames.py compares the addresses.
    sed -E -e 's/^\t +[0-9a-f]{1,15}( |$)/\tuser\1/' -e 's/ +/ /g' -e 's/^ //' -e 's/^\t /\t/'
}

# Known differences: the version of perf or *, a pattern of the capture's name, a pattern of the options, the reason.
known() {
    cat <<'END'
*|contexts.*|*|perf drops samples of guests whose virtual machine no record names.
6.1|deferred.*|*|perf 6.1 does not know CALLCHAIN_DEFERRED, nor attrs that ask for it.
6.1|branches_open.*|--header-only|perf 6.1 does not know counters of branches, and refuses to print the events.
6.1|branches.be.data|*brstack*|perf does not swap the new types of branches of the other byte order.
*|registers.be.data|*--header*|perf does not swap sample_regs_intr of the other byte order.
*|killed.data|--header-only|perf reads features at the offset 0, because the recording was never completed.
*|stack_zero.*|*|Nothing in the record marks the stray word after an empty copy of a stack: perf reads the fields after it there.
*|mmap2_old.*|*--show-mmap-events*|perf reads protection and flags from the bytes of the name.
*|*.be.data|*--show-mmap-events*|perf does not swap protection and flags of the other byte order.
*|records.*|*|A FORK record has the process id of another thread, which is then a new process; perf keeps the thread. Also, bytes of names that are not UTF-8 are escaped.
*|user_records.*|*|An EVENT_UPDATE record names the event later; the name is used for the counts before it, too.
*|perf.data.intel_pt-*|*|perf decodes the traces of the processor. perfdata does not.
*|poc-*|--header-only|The header is damaged. perf prints what it made of it; perfdata refuses it.
*|clusterfuzz-*|*--show-mmap-events*|perf uses the first event for a record whose event is unknown. perfdata reports the record.
*|poc-*|*--show-mmap-events*|As above.
*|*.pipe.data|-F comm,time,ip --max-stack 2|perf adds the symbol to an address of a pipe, and perf 6.1 prints the offset in its file.
*|everything.data|*ip*|The copies of stacks are empty: perf prints no frame, perfdata the address of the sample.
*|dwarf.data|*ip*|perfdata unwinds further, or ends a stack where perf prints an address that is none.
*|rs-dwarf.data|*ip*|perfdata unwinds further, or ends a stack where perf prints an address that is none.
*|node-jitdump.data|*sym*|perf has the names of a jitdump only after perf inject.
*|machine.data|*sym*|A return address at the end of a function is of that function, and not of the next one.
7.2|*|*--header*|perf 7.2 names types and configs of events, and prints more sections.
7.2|*|*data_src*|perf 7.2 prints several sources of data in other words.
7.2|*|*brstack*|perf 7.2 prints the speculation of branches.
7.2|system_wide.data|*--show-switch-events*|perf 7.2 does not give some new threads the name of their parent.
7.2|machine.data|*|As above.
7.2|perf.data.armv7-3.4|*|As above.
7.2|perf.data.raw_callgraph_branch-3.4|*--show-task-events*|As above.
7.2|perf.data.singleprocess-3.4|*--show-task-events*|As above.
7.2|perf.data.piped.*|*|perf 7.2 appends :H to names that it makes from attrs.
7.2|script_fields.*|*|perf 7.2 prints the third weight without being asked for it.
7.2|attr_newest.be.data|*|perf 7.2 does not read the names of events of this file of the other byte order, and makes names from the attrs.
END
}

is_known() {
    local of capture options
    while IFS='|' read -r of capture options _; do
        # All are patterns on purpose.
        # shellcheck disable=SC2254
        case $version in $of) case $1 in $capture) case $2 in $options) return 0 ;; esac ;; esac ;; esac
    done < <(known)
    return 1
}

# Compares one capture with each set of options. Prints the differences, and then the counts.
compare() {
    local file=$1 work=$2 name same=0 listed=0 refused=0 differing=0
    name=$(basename "$file")
    mkdir "$work"
    while IFS= read -r option; do
        read -ra words <<<"$option"
        # perf complains about files that it does not find; only what it prints counts. perf 7.2 shows inlined functions
        # even if no symbols are to be printed.
        if ! timeout 60 "$perf" script --no-inline -i "$file" "${words[@]}" </dev/null >"$work/perf.raw" 2>/dev/null; then
            refused=$((refused + 1))
            continue
        fi
        timeout 60 "$perfdata" script --no-inline "$file" "${words[@]}" </dev/null >"$work/perfdata.raw" 2>"$work/errors"
        normalised "$work/perf.raw" >"$work/perf"
        normalised "$work/perfdata.raw" >"$work/perfdata"
        if cmp -s "$work/perf" "$work/perfdata"; then
            same=$((same + 1))
        elif is_known "$name" "$option"; then
            listed=$((listed + 1))
        else
            differing=$((differing + 1))
            echo "$name: $option"
            diff -a "$work/perf" "$work/perfdata" | head -"${LINES_SHOWN:-6}" | cut -c1-200
            head -2 "$work/errors"
        fi
    done < <(options)
    echo "$same $listed $refused $differing" >"$work.counts"
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
    same=0 listed=0 refused=0 differing=0
    while read -r a b c d; do
        same=$((same + a)) listed=$((listed + b)) refused=$((refused + c)) differing=$((differing + d))
    done
    echo "same: $same, known differences: $listed, refused by perf: $refused, other differences: $differing"
    [ "$differing" -eq 0 ]
}
