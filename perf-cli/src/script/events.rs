//! Records that are not samples, as lines.

use perf_abi::record::{Misc, RecordType};
use perf_parse::record::{FileId, Task};
use perf_parse::{EventRecord, Record};

use crate::args::script::ShowEventsArgs;
use crate::escape::{Alternate, print};
use crate::perf_text::print::{OneLine, push_name};

/// Returns whether the records of a type are to be printed.
pub(super) fn is_shown(kind: RecordType, show: &ShowEventsArgs) -> bool {
    match kind {
        RecordType::COMM | RecordType::FORK | RecordType::EXIT => show.show_task_events,
        RecordType::MMAP | RecordType::MMAP2 => show.show_mmap_events,
        RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE => show.show_switch_events,
        RecordType::LOST => show.show_lost_events,
        RecordType::NAMESPACES => show.show_namespace_events,
        RecordType::CGROUP => show.show_cgroup_events,
        RecordType::KSYMBOL | RecordType::BPF_EVENT => show.show_bpf_events,
        _ => false,
    }
}

/// Returns the process and the thread whose name begins the line; `None` for those of the record's trailer.
pub(super) fn ids(record: &Record<'_>) -> Option<(i32, i32)> {
    match record {
        Record::Comm(it) => Some((it.pid, it.tid)),
        Record::Fork(it) | Record::Exit(it) => Some((it.pid, it.tid)),
        Record::Mmap(it) => Some((it.pid, it.tid)),
        Record::Mmap2(it) => Some((it.pid, it.tid)),
        Record::Namespaces(it) => Some((it.pid, it.tid)),
        _ => None,
    }
}

/// Returns the time of a record: that of its trailer, or its own; the largest one if the trailer has none.
pub(super) fn time(record: &EventRecord<'_>, decoded: &Record<'_>) -> u64 {
    match (record.sample_id().ok().flatten(), decoded) {
        (Some(id), _) => id.time().unwrap_or(u64::MAX),
        (None, Record::Fork(it) | Record::Exit(it)) => it.time,
        (None, _) => 0,
    }
}

/// The names of the namespaces, in the order of the record.
const NAMESPACES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

/// Appends a record, with its line end.
///
/// perf: `perf_event__fprintf`, `tools/perf/util/event.c`.
pub(super) fn push(out: &mut Vec<u8>, record: &Record<'_>, misc: Misc) {
    let kind = record.kind();
    print(out, format_args!("PERF_RECORD_{}", kind.name().unwrap_or("?")));
    match record {
        Record::Comm(it) => {
            let exec = if misc.contains(Misc::COMM_EXEC) { " exec" } else { "" };
            print(out, format_args!("{exec}: {}:{}/{}\n", OneLine(it.comm), it.pid, it.tid));
        }
        Record::Fork(it) | Record::Exit(it) => {
            let Task { pid, tid, ppid, ptid, .. } = it;
            print(out, format_args!("({pid}:{tid}):({ppid}:{ptid})\n"));
        }
        Record::Mmap(it) => {
            let mode = if misc.contains(Misc::MMAP_DATA) { 'r' } else { 'x' };
            print(out, format_args!(" {}/{}: [", it.pid, it.tid));
            push_place(out, it.addr, it.len, it.pgoff);
            print(out, format_args!("]: {mode} {}\n", OneLine(it.filename)));
        }
        Record::Mmap2(it) => {
            print(out, format_args!(" {}/{}: [", it.pid, it.tid));
            push_place(out, it.addr, it.len, it.pgoff);
            match it.id {
                FileId::Inode { maj, min, ino, ino_generation } => {
                    print(out, format_args!(" {maj:02x}:{min:02x} {ino} {ino_generation}"));
                }
                id => {
                    out.extend_from_slice(b" <");
                    crate::escape::push_hex(out, id.build_id().unwrap_or_default());
                    out.push(b'>');
                }
            }
            let (prot, flags) = it.prot_flags.unwrap_or((0, 0));
            let bit = |bit: u32, letter: char| if prot & bit != 0 { letter } else { '-' };
            let (r, w, x, share) =
                (bit(1, 'r'), bit(2, 'w'), bit(4, 'x'), if flags & 1 != 0 { 's' } else { 'p' });
            print(out, format_args!("]: {r}{w}{x}{share} {}\n", OneLine(it.filename)));
        }
        Record::Switch | Record::SwitchCpuWide(_) => {
            let is_out = misc.contains(Misc::SWITCH_OUT);
            out.extend_from_slice(match is_out {
                false => b" IN         ",
                true if misc.contains(Misc::SWITCH_OUT_PREEMPT) => b" OUT preempt",
                true => b" OUT        ",
            });
            if let Record::SwitchCpuWide(it) = record {
                let side = if is_out { "next" } else { "prev" };
                let (pid, tid) = (it.next_prev_pid, it.next_prev_tid);
                print(out, format_args!("  {side} pid/tid: {pid:5}/{tid:<5}"));
            }
            out.push(b'\n');
        }
        Record::Lost(it) => print(out, format_args!(" lost {}\n", it.lost)),
        Record::Namespaces(it) => {
            let links: Vec<_> = it.link_info.iter().collect();
            print(out, format_args!(" {}/{} - nr_namespaces: {}\n\t\t[", it.pid, it.tid, links.len()));
            for (number, link) in links.iter().enumerate() {
                if number > 0 && number % 4 == 0 {
                    out.extend_from_slice(b"\n\t\t ");
                }
                let name = NAMESPACES.get(number).copied().unwrap_or("unknown");
                print(out, format_args!("{number}/{name}: {}/{:#x}", link.dev, link.ino));
                out.extend_from_slice(if number + 1 == links.len() { b"]\n" } else { b", " });
            }
        }
        Record::Cgroup(it) => print(out, format_args!(" cgroup: {} {}\n", it.id, OneLine(it.path))),
        Record::Ksymbol(it) => {
            let (addr, len, kind, flags) = (it.addr, it.len, it.ksym_type.0, it.flags.0);
            print(out, format_args!(" addr {addr:x} len {len} type {kind} flags 0x{flags:x} name "));
            push_name(out, it.name);
            out.push(b'\n');
        }
        Record::BpfEvent(it) => {
            print(out, format_args!(" type {}, flags {}, id {}\n", it.kind.0, it.flags, it.id));
        }
        _ => out.push(b'\n'),
    }
}

fn push_place(out: &mut Vec<u8>, addr: u64, len: u64, pgoff: u64) {
    print(out, format_args!("{}({}) @ {}", Alternate(addr), Alternate(len), Alternate(pgoff)));
}
