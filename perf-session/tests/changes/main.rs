//! The changes of the records of each capture, applied to plain lists, give what the session has.

use std::collections::BTreeMap;
use std::path::Path;

use compare::session::Mirror;
use perf_parse::Reader;
use perf_session::{Change, Session};

/// Counts the changes of a capture by their kinds; `None` if it cannot be opened.
fn changes_of(path: &Path) -> Option<BTreeMap<&'static str, u64>> {
    let bytes = std::fs::read(path).ok()?;
    let reader = Reader::new(&bytes).ok()?;
    let (mut session, mut watched) = (Session::new(), Session::new());
    let mut mirror = Mirror::new(&watched);
    let mut kinds = BTreeMap::new();
    for (number, record) in reader.records().in_time_order().flatten().enumerate() {
        let of_update = session.update_at(&record);
        let of_update = of_update.map(|at| at.map(|at| (at.thread().key(), at.mode())));
        let changes = match watched.update_changes(&record) {
            Ok(changes) => changes,
            Err(error) => {
                assert_eq!(of_update, Err(error));
                continue;
            }
        };
        let mut sample = None;
        for change in changes.clone() {
            if let Change::Sample(at) = &change {
                sample = Some((at.thread().key(), at.mode()));
            }
            *kinds.entry(kind_of(&change)).or_default() += 1;
        }
        assert_eq!(of_update, Ok(sample), "{}", path.display());
        // Comparing everything takes time in proportion to what is known.
        if mirror.apply(changes) && number % 61 == 0 {
            mirror.check(&watched);
        }
    }
    mirror.check(&watched);
    mirror.check(&session);
    Some(kinds)
}

fn kind_of(change: &Change<'_, '_>) -> &'static str {
    match change {
        Change::Sample(_) => "sample",
        Change::ThreadBegun { inherited: None, .. } => "begun",
        Change::ThreadBegun { .. } => "forked",
        Change::ThreadIdentified { .. } => "identified",
        Change::ThreadNamed { .. } => "named",
        Change::ThreadExited { .. } => "exited",
        Change::ThreadRemoved { .. } => "removed",
        Change::ProcessRemoved { .. } => "process removed",
        Change::Exec { .. } => "exec",
        Change::Mapped { cut, .. } if cut.clone().any(|cut| !cut.is_whole()) => "mapped into a part",
        Change::Mapped { .. } => "mapped",
        Change::KernelMapped { .. } => "kernel mapped",
        Change::KernelUnmapped { .. } => "kernel unmapped",
        Change::Cgroup { .. } => "cgroup",
        Change::BuildId { .. } => "build id",
        _ => "other",
    }
}

#[test]
fn of_every_capture() {
    let mut kinds = BTreeMap::<_, u64>::new();
    let mut count = 0;
    for path in testdata::captures() {
        let Some(of_capture) = changes_of(&path) else { continue };
        of_capture.into_iter().for_each(|(kind, number)| *kinds.entry(kind).or_default() += number);
        count += 1;
    }
    assert!(count > 40, "{count} captures");
    println!("{kinds:?}");
    let expected = ["begun", "exec", "exited", "forked", "kernel mapped", "mapped", "named", "sample"];
    let missing: Vec<_> = expected.iter().filter(|kind| !kinds.contains_key(*kind)).collect();
    assert!(missing.is_empty(), "{missing:?} of {kinds:?}");
}
