//! Records of few processes and few addresses: the threads, names and mappings of a session equal those of a plain
//! model after each record. For any capture, every stack can be walked, and no more threads are kept than are alive or
//! have just exited.

use std::collections::HashSet;

use perf_abi::record::RecordType;
use perf_parse::{EventRecord, Reader, Record};
use perf_session::{SampleContext, Session, SessionLimits};

use super::walk::walk;

/// Bit of the first byte: the rest is a capture.
const CAPTURE: u8 = 8;

/// Number of threads that are kept after their exit, for a capture.
const EXITED: usize = 4;

/// The first byte of `data` has the bit; without it, the bytes are those of [`compare::session::check`].
pub fn run(data: &[u8]) -> bool {
    let Some((&bits, rest)) = data.split_first() else { return false };
    if bits & CAPTURE == 0 {
        compare::session::check(data, false);
        return true;
    }
    let Ok(reader) = Reader::new(rest) else { return false };
    any(&reader, rest.len());
    true
}

/// Applies the records of any capture.
fn any(reader: &Reader<'_>, size: usize) {
    let mut limits = SessionLimits::default();
    limits.exited = EXITED;
    let mut session = Session::within(&limits);
    session.add_features(reader.features());
    let chains = reader.deferred_chains();
    let mut alive = HashSet::new();
    walk(&mut reader.records().in_time_order(), size, |record| {
        if session.update(record).is_err() {
            assert!(record.decode().is_err());
            return;
        }
        note(&mut alive, record);
        let Some(at) = session.at(record) else { return };
        let deferred = record.sample().and_then(|sample| chains.of(&sample).ok().flatten());
        check_stack(&session, &at, deferred);
    });
    assert!(session.threads().count() <= alive.len() + EXITED);
    for thread in session.threads() {
        let maps = session.maps(thread).expect("the thread is known");
        let ends: Vec<_> = maps.iter().map(perf_session::Mapping::range).collect();
        assert!(ends.iter().all(|range| range.start < range.end));
        assert!(ends.is_sorted_by(|one, next| one.end <= next.start));
    }
}

/// Notes which threads are known to be alive.
fn note(alive: &mut HashSet<i32>, record: &EventRecord<'_>) {
    if record.kind() == RecordType::SAMPLE {
        let ids = record.sample().and_then(|sample| sample.pid().zip(sample.tid()));
        let (pid, tid) = ids.unwrap_or((-1, -1));
        alive.extend([pid, tid]);
        return;
    }
    match record.decode() {
        Ok(Record::Mmap(it)) => alive.extend([it.pid, it.tid]),
        Ok(Record::Mmap2(it)) => alive.extend([it.pid, it.tid]),
        Ok(Record::Comm(it)) => alive.extend([it.pid, it.tid]),
        Ok(Record::Fork(it)) => alive.extend([it.pid, it.tid, it.ppid, it.ptid]),
        Ok(Record::Exit(it)) => {
            alive.insert(it.pid);
            alive.remove(&it.tid);
        }
        _ => {}
    }
}

/// Walks a stack.
fn check_stack(session: &Session, at: &SampleContext<'_, '_>, deferred: Option<&[u64]>) {
    let Ok(stack) = at.stack(deferred) else { return };
    let most = at.record().raw().as_bytes().len() / 8 + deferred.map_or(0, <[u64]>::len) + 1;
    let mut frames = 0;
    for frame in stack {
        frames += 1;
        assert!(frames <= most);
        assert_eq!(at.find(frame.mode, frame.ip), frame.mapping);
        if let Some(mapping) = frame.mapping {
            assert!(mapping.range().contains(&frame.ip));
            // Whatever they are.
            let _ = (mapping.offset_of(frame.ip), session.build_id(mapping.dso()));
        }
    }
}
