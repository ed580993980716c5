//! Records of the perf tool that describe the recording: which ids, threads and cpus it has.

use std::fs;

use perf_abi::record::RecordType;

use crate::record_body::{put, word};
use crate::session::EventSession;
use crate::{Error, Targets};

/// The maximum number of ids in a record: its size has 16 bits, and an entry 32 bytes, or 48 with a guest.
const MAX_IDS: usize = (u16::MAX as usize - 16) / 32;
/// The maximum number of threads in a record, at 24 bytes each.
const MAX_THREADS: usize = (u16::MAX as usize - 16) / 24;
/// `PERF_CPU_MAP__CPUS`: a list.
const CPU_LIST: u16 = 0;

/// Passes the records ID_INDEX, THREAD_MAP and CPU_MAP to `sink`.
///
/// perf: `perf_event__synthesize_id_index`, `perf_event__synthesize_thread_map2`, `perf_event__synthesize_cpu_map`.
pub(crate) fn synthesize(
    session: &EventSession,
    targets: &Targets,
    command: Option<u32>,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    for ids in session.opened.chunks(MAX_IDS) {
        let mut body = Vec::new();
        word(&mut body, ids.len() as u64);
        for opened in ids {
            word(&mut body, opened.id);
            word(&mut body, opened.ring as u64);
            word(&mut body, opened.cpu.map_or(u64::MAX, u64::from));
            word(&mut body, opened.tid.map_or(u64::MAX, u64::from));
        }
        put(RecordType::ID_INDEX, &body, sink)?;
    }
    thread_map(&targets.threads(command), sink)?;
    cpu_map(session.opened.iter().map(|opened| opened.cpu).collect(), sink)
}

/// Passes the record THREAD_MAP to `sink`: the threads, or -1 for all.
pub(crate) fn thread_map(
    threads: &[u32],
    sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    // All of them, or none: readers take each record for the whole map.
    if threads.len() <= MAX_THREADS {
        let mut body = Vec::new();
        if threads.is_empty() {
            word(&mut body, 1);
            word(&mut body, u64::MAX);
            body.extend([0; 16]);
        } else {
            word(&mut body, threads.len() as u64);
        }
        for &tid in threads {
            word(&mut body, u64::from(tid));
            let name = fs::read(format!("/proc/{tid}/comm")).unwrap_or_default();
            let name = name.strip_suffix(b"\n").unwrap_or(&name);
            let mut comm = [0; 16];
            // The last byte stays NUL.
            comm.iter_mut().take(15).zip(name).for_each(|(to, from)| *to = *from);
            body.extend(comm);
        }
        put(RecordType::THREAD_MAP, &body, sink)?;
    }
    Ok(())
}

/// Passes the record CPU_MAP to `sink`; `None` is any cpu.
pub(crate) fn cpu_map(
    mut cpus: Vec<Option<u32>>,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    cpus.sort_unstable();
    cpus.dedup();
    let cpus: Vec<u16> =
        cpus.iter().map(|cpu| cpu.map_or(u16::MAX, |cpu| u16::try_from(cpu).unwrap_or(u16::MAX))).collect();
    let mut body = Vec::new();
    body.extend(CPU_LIST.to_ne_bytes());
    body.extend(u16::try_from(cpus.len()).unwrap_or(u16::MAX).to_ne_bytes());
    body.extend(cpus.iter().flat_map(|cpu| cpu.to_ne_bytes()));
    body.resize(body.len().next_multiple_of(8), 0);
    put(RecordType::CPU_MAP, &body, sink)
}
