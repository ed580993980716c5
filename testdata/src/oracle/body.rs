//! Records other than samples.

use perf_abi::attr::Attr;

use super::read::{Read, read};
use super::reader::Reader;
use super::sample::Sample;

const PERF_RECORD_MISC_MMAP_BUILD_ID: u16 = 1 << 14;

/// The payload of a record, by record type. Strings are the bytes before their NUL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// `PERF_RECORD_MMAP`, 1.
    Mmap {
        /// Process id.
        pid: i32,
        /// Thread id.
        tid: i32,
        /// Start address.
        addr: u64,
        /// Bytes of the mapping.
        len: u64,
        /// Offset of the mapping in the file, in bytes.
        pgoff: u64,
        /// Name of the file.
        filename: Vec<u8>,
    },
    /// `PERF_RECORD_LOST`, 2.
    Lost {
        /// Id of the event that reported the loss.
        id: u64,
        /// Number of lost records.
        lost: u64,
    },
    /// `PERF_RECORD_COMM`, 3.
    Comm {
        /// Process id.
        pid: i32,
        /// Thread id.
        tid: i32,
        /// Name of the task.
        comm: Vec<u8>,
    },
    /// `PERF_RECORD_EXIT`, 4.
    Exit {
        /// Process id.
        pid: i32,
        /// Process id of the parent.
        ppid: i32,
        /// Thread id.
        tid: i32,
        /// Thread id of the parent.
        ptid: i32,
        /// Time in nanoseconds of the event's clock.
        time: u64,
    },
    /// `PERF_RECORD_THROTTLE`, 5.
    Throttle {
        /// Time in nanoseconds of the event's clock.
        time: u64,
        /// Id of the event.
        id: u64,
        /// Id of the event itself, even if it is inherited.
        stream_id: u64,
    },
    /// `PERF_RECORD_UNTHROTTLE`, 6.
    Unthrottle {
        /// Time in nanoseconds of the event's clock.
        time: u64,
        /// Id of the event.
        id: u64,
        /// Id of the event itself, even if it is inherited.
        stream_id: u64,
    },
    /// `PERF_RECORD_FORK`, 7.
    Fork {
        /// Process id.
        pid: i32,
        /// Process id of the parent.
        ppid: i32,
        /// Thread id.
        tid: i32,
        /// Thread id of the parent.
        ptid: i32,
        /// Time in nanoseconds of the event's clock.
        time: u64,
    },
    /// `PERF_RECORD_READ`, 8.
    Read {
        /// Process id.
        pid: i32,
        /// Thread id.
        tid: i32,
        /// The counter values.
        values: Read,
    },
    /// `PERF_RECORD_SAMPLE`, 9.
    Sample(Box<Sample>),
    /// `PERF_RECORD_MMAP2`, 10; `prot` and `flags` are `None` in the layout of Linux 3.12 to 3.15.
    Mmap2 {
        /// Process id.
        pid: i32,
        /// Thread id.
        tid: i32,
        /// Start address.
        addr: u64,
        /// Bytes of the mapping.
        len: u64,
        /// Offset of the mapping in the file, in bytes.
        pgoff: u64,
        /// The identity of the file.
        file: Mmap2Id,
        /// `PROT_*`.
        prot: Option<u32>,
        /// `MAP_*`.
        flags: Option<u32>,
        /// Whether the bytes fit both layouts.
        fits_both: bool,
        /// Name of the file.
        filename: Vec<u8>,
    },
    /// `PERF_RECORD_AUX`, 11.
    Aux {
        /// Position in the AUX stream.
        aux_offset: u64,
        /// Bytes of the data.
        aux_size: u64,
        /// `PERF_AUX_FLAG_*`.
        flags: u64,
    },
    /// `PERF_RECORD_ITRACE_START`, 12.
    ItraceStart {
        /// Process id.
        pid: i32,
        /// Thread id.
        tid: i32,
    },
    /// `PERF_RECORD_LOST_SAMPLES`, 13.
    LostSamples {
        /// Number of lost samples.
        lost: u64,
    },
    /// `PERF_RECORD_SWITCH`, 14.
    Switch,
    /// `PERF_RECORD_SWITCH_CPU_WIDE`, 15.
    SwitchCpuWide {
        /// Process id of the task switched to or from.
        next_prev_pid: i32,
        /// Thread id of the task switched to or from.
        next_prev_tid: i32,
    },
    /// `PERF_RECORD_NAMESPACES`, 16.
    Namespaces {
        /// Process id.
        pid: i32,
        /// Thread id.
        tid: i32,
        /// The `nr_namespaces` namespaces.
        namespaces: Vec<Namespace>,
    },
    /// `PERF_RECORD_KSYMBOL`, 17.
    Ksymbol {
        /// Address of the symbol.
        addr: u64,
        /// Bytes of the symbol.
        len: u32,
        /// `PERF_RECORD_KSYMBOL_TYPE_*`.
        ksym_type: u16,
        /// `PERF_RECORD_KSYMBOL_FLAGS_*`.
        flags: u16,
        /// Name of the symbol.
        name: Vec<u8>,
    },
    /// `PERF_RECORD_BPF_EVENT`, 18.
    BpfEvent {
        /// `PERF_BPF_EVENT_*`.
        r#type: u16,
        /// Zero as of Linux 7.3.
        flags: u16,
        /// Id of the program.
        id: u32,
        /// Hash of the program.
        tag: [u8; 8],
    },
    /// `PERF_RECORD_CGROUP`, 19.
    Cgroup {
        /// Id of the cgroup.
        id: u64,
        /// Path of the cgroup.
        path: Vec<u8>,
    },
    /// `PERF_RECORD_TEXT_POKE`, 20.
    TextPoke {
        /// Address of the text.
        addr: u64,
        /// The `old_len` old bytes.
        old: Vec<u8>,
        /// The `new_len` new bytes.
        new: Vec<u8>,
    },
    /// `PERF_RECORD_AUX_OUTPUT_HW_ID`, 21.
    AuxOutputHwId {
        /// The hardware id, which the PMU defines.
        hw_id: u64,
    },
    /// `PERF_RECORD_CALLCHAIN_DEFERRED`, 22.
    CallchainDeferred {
        /// The word after `PERF_CONTEXT_USER_DEFERRED` in the sample's call chain.
        cookie: u64,
        /// The `nr` addresses.
        ips: Vec<u64>,
    },
    /// The payload of a record of another type. It is without the trailer if the type is below 64.
    Other(Vec<u8>),
}

/// The identity of the file of an MMAP2 record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mmap2Id {
    /// The inode.
    Inode {
        /// Major number of the device.
        maj: u32,
        /// Minor number of the device.
        min: u32,
        /// Inode number.
        ino: u64,
        /// Generation of the inode number.
        ino_generation: u64,
    },
    /// The build id, if `misc` has `PERF_RECORD_MISC_MMAP_BUILD_ID`.
    BuildId {
        /// Bytes of `build_id` in use; not checked.
        build_id_size: u8,
        /// All 20 bytes.
        build_id: [u8; 20],
    },
}

/// One namespace of a task. C: `struct perf_ns_link_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Device of the namespace's file.
    pub dev: u64,
    /// Inode of the namespace's file.
    pub ino: u64,
}

/// Decodes the payload, without trailer, of a record other than a sample.
pub(super) fn body(attr: &Attr, big: bool, kind: u32, misc: u16, payload: &[u8]) -> Result<Body, String> {
    let mut r = Reader::new(payload, big);
    // Rust evaluates the fields of a struct expression in the order in which they are written.
    let body = match kind {
        1 => Body::Mmap {
            pid: r.i32("pid")?,
            tid: r.i32("tid")?,
            addr: r.u64("addr")?,
            len: r.u64("len")?,
            pgoff: r.u64("pgoff")?,
            filename: string(&mut r, "filename")?,
        },
        2 => Body::Lost { id: r.u64("id")?, lost: r.u64("lost")? },
        3 => Body::Comm { pid: r.i32("pid")?, tid: r.i32("tid")?, comm: string(&mut r, "comm")? },
        4 => Body::Exit {
            pid: r.i32("pid")?,
            ppid: r.i32("ppid")?,
            tid: r.i32("tid")?,
            ptid: r.i32("ptid")?,
            time: r.u64("time")?,
        },
        5 => Body::Throttle { time: r.u64("time")?, id: r.u64("id")?, stream_id: r.u64("stream_id")? },
        6 => Body::Unthrottle { time: r.u64("time")?, id: r.u64("id")?, stream_id: r.u64("stream_id")? },
        7 => Body::Fork {
            pid: r.i32("pid")?,
            ppid: r.i32("ppid")?,
            tid: r.i32("tid")?,
            ptid: r.i32("ptid")?,
            time: r.u64("time")?,
        },
        8 => Body::Read { pid: r.i32("pid")?, tid: r.i32("tid")?, values: read(attr.read_format.0, &mut r)? },
        10 => mmap2(misc, &mut r)?,
        11 => Body::Aux {
            aux_offset: r.u64("aux_offset")?,
            aux_size: r.u64("aux_size")?,
            flags: r.u64("flags")?,
        },
        12 => Body::ItraceStart { pid: r.i32("pid")?, tid: r.i32("tid")? },
        13 => Body::LostSamples { lost: r.u64("lost")? },
        14 => Body::Switch,
        15 => Body::SwitchCpuWide {
            next_prev_pid: r.i32("next_prev_pid")?,
            next_prev_tid: r.i32("next_prev_tid")?,
        },
        16 => namespaces(&mut r)?,
        17 => Body::Ksymbol {
            addr: r.u64("addr")?,
            len: r.u32("len")?,
            ksym_type: r.u16("ksym_type")?,
            flags: r.u16("flags")?,
            name: string(&mut r, "name")?,
        },
        18 => Body::BpfEvent {
            r#type: r.u16("type")?,
            flags: r.u16("flags")?,
            id: r.u32("id")?,
            tag: r.array("tag")?,
        },
        19 => Body::Cgroup { id: r.u64("id")?, path: string(&mut r, "path")? },
        20 => text_poke(&mut r)?,
        21 => Body::AuxOutputHwId { hw_id: r.u64("hw_id")? },
        22 => callchain_deferred(&mut r)?,
        _ => Body::Other(r.rest().to_vec()),
    };
    r.end()?;
    Ok(body)
}

/// Reads a NUL-terminated string, and all bytes after it as padding.
fn string(r: &mut Reader<'_>, field: &str) -> Result<Vec<u8>, String> {
    let bytes = r.rest();
    let nul = bytes.iter().position(|&byte| byte == 0).ok_or_else(|| format!("{field}: no NUL"))?;
    Ok(bytes[..nul].to_vec())
}

fn mmap2(misc: u16, r: &mut Reader<'_>) -> Result<Body, String> {
    let pid = r.i32("pid")?;
    let tid = r.i32("tid")?;
    let addr = r.u64("addr")?;
    let len = r.u64("len")?;
    let pgoff = r.u64("pgoff")?;
    let has_build_id = misc & PERF_RECORD_MISC_MMAP_BUILD_ID != 0;
    let file = if has_build_id {
        let [build_id_size] = r.array("build_id_size")?;
        let [_reserved_1] = r.array("reserved_1")?;
        let [_, _reserved_2] = r.array("reserved_2")?;
        Mmap2Id::BuildId { build_id_size, build_id: r.array("build_id")? }
    } else {
        Mmap2Id::Inode {
            maj: r.u32("maj")?,
            min: r.u32("min")?,
            ino: r.u64("ino")?,
            ino_generation: r.u64("ino_generation")?,
        }
    };
    // Kernels of the time of Linux 3.12 wrote the name here. They had no build ids.
    let (current, old) = if has_build_id { (true, false) } else { fitting_layouts(r.peek_rest()) };
    let fits_both = current && old;
    let is_current = if fits_both {
        !matches!(r.peek_rest(), [b'/' | b'[', ..]) && r.peek_u32("prot")? >> 16 == 0
    } else {
        current
    };
    let (prot, flags) = if is_current { (Some(r.u32("prot")?), Some(r.u32("flags")?)) } else { (None, None) };
    let filename = string(r, "filename")?;
    Ok(Body::Mmap2 { pid, tid, addr, len, pgoff, file, prot, flags, fits_both, filename })
}

/// Returns whether the bytes after the identity of the file fit the current layout, and whether they fit the old one.
fn fitting_layouts(bytes: &[u8]) -> (bool, bool) {
    let is_name = |name: &[u8]| match name.iter().position(|&byte| byte == 0) {
        Some(nul) => name[nul..].iter().all(|&byte| byte == 0),
        None => false,
    };
    let after_flags = if bytes.len() > 8 { &bytes[8..] } else { &[] };
    let is_printable = !matches!(bytes.first(), None | Some(0..=0x20 | 0x7f));
    let (current, old) = (is_name(after_flags), is_printable && is_name(bytes));
    if current || old {
        return (current, old);
    }
    // Other bytes follow the NUL of the name, or it has none.
    let (current, text) = (after_flags.contains(&0), !bytes[..bytes.len().min(8)].contains(&0));
    let old = is_printable && (text || !current);
    (current || (!old && !after_flags.is_empty()), old)
}

fn namespaces(r: &mut Reader<'_>) -> Result<Body, String> {
    let pid = r.i32("pid")?;
    let tid = r.i32("tid")?;
    let mut namespaces = Vec::new();
    for _ in 0..r.u64("nr_namespaces")? {
        namespaces.push(Namespace { dev: r.u64("dev")?, ino: r.u64("ino")? });
    }
    Ok(Body::Namespaces { pid, tid, namespaces })
}

fn text_poke(r: &mut Reader<'_>) -> Result<Body, String> {
    let addr = r.u64("addr")?;
    let old_len = u64::from(r.u16("old_len")?);
    let new_len = u64::from(r.u16("new_len")?);
    let old = r.bytes("old", old_len)?.to_vec();
    let new = r.bytes("new", new_len)?.to_vec();
    let written = 4 + old_len + new_len; // from old_len on
    let _padding = r.bytes("padding", written.next_multiple_of(8) - written)?;
    Ok(Body::TextPoke { addr, old, new })
}

fn callchain_deferred(r: &mut Reader<'_>) -> Result<Body, String> {
    let cookie = r.u64("cookie")?;
    let nr = r.u64("nr")?;
    let ips = r.words("ips", nr)?;
    Ok(Body::CallchainDeferred { cookie, ips })
}
