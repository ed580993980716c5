//! Branches of captures: what is counted, and what limits leave out.

#![cfg(feature = "branches")]

use perf_parse::Reader;
use perf_session::{Segment, Session};

use perf_export::branches::{BranchFile, Branches, Code, autofdo, brstack, preagg};

/// The branches of a capture that another project recorded with LBR.
fn recorded(limit: usize) -> Branches {
    let path = testdata::path("../foreign/quipper/perf.data.branch-4.14");
    let reader = Reader::open(path).unwrap();
    let mut session = Session::new();
    session.add_features(reader.features());
    let mut branches = Branches::new(limit);
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        if let Some(at) = session.update_at(&record).unwrap()
            && let Some(stack) = at.sample().tail().unwrap().branch_stack
        {
            branches.sample(&at, &stack);
        }
    }
    branches
}

fn lines(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<String> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn every_entry_is_counted() {
    let branches = recorded(usize::MAX);
    assert!(branches.stacks() > 0 && branches.entries() > branches.stacks());
    let segments = [Segment { offset: 0, address: 0x10_0000, size: u64::MAX >> 1, is_executable: true }];
    let code = Code::new(&segments);
    let mut total = 0;
    for file in branches.files() {
        assert_eq!(file.beyond, 0);
        assert_eq!(file.traces.values().map(|it| it.count).sum::<u64>(), file.entries);
        assert!(file.traces.values().all(|it| it.mispredicted <= it.count));
        let text = lines(|out| preagg::write(file, code, &mut |_| None, out));
        let of_kind = |kind: char, column: usize| -> u64 {
            let of_kind = text.iter().filter(|line| line.starts_with(kind));
            of_kind.map(|line| line.split(' ').nth(column).unwrap().parse::<u64>().unwrap()).sum()
        };
        assert_eq!(of_kind('B', 3), file.entries);
        let ranges = file.traces.iter().filter(|(trace, _)| trace.end.is_some());
        assert_eq!(of_kind('F', 3) + of_kind('f', 3), ranges.map(|(_, it)| it.count).sum::<u64>());
        total += file.entries;
    }
    assert!(total > 0);
    // An entry between two files counts in both.
    assert!(total <= 2 * branches.entries());
}

#[test]
fn what_is_beyond_the_limit_is_counted() {
    let all = recorded(usize::MAX);
    for limit in [0, 1, 10] {
        let few = recorded(limit);
        assert_eq!(few.entries(), all.entries());
        let kept = few.files().iter().map(|file| file.traces.len() + file.samples.len()).sum::<usize>();
        assert_eq!(kept, limit);
        for (file, complete) in few.files().iter().zip(all.files()) {
            let counted: u64 = file.traces.values().map(|it| it.count).sum();
            assert_eq!((file.entries, counted + file.beyond), (complete.entries, complete.entries));
            let samples = |file: &BranchFile| file.samples.values().sum::<u64>() + file.beyond_samples;
            assert_eq!(samples(file), samples(complete));
        }
    }
}

#[test]
fn the_busiest_file_is_the_one_with_the_most_entries() {
    let branches = recorded(0);
    let most = branches.files().iter().map(|file| file.entries).max();
    assert_eq!(branches.busiest(|_| true).map(|file| file.entries), most);
    assert!(branches.busiest(|_| false).is_none());
}

#[test]
fn places_in_no_segment_are_outside() {
    let branches = recorded(usize::MAX);
    let file = branches.busiest(|_| true).unwrap();
    let code = Code::new(&[]);
    assert!(lines(|out| preagg::write(file, code, &mut |_| None, out)).is_empty());
    assert_eq!(lines(|out| autofdo::write(file, code, out)), ["0", "0", "0"]);
    assert!(lines(|out| brstack::write_mapping(b"a", code, out)).is_empty());
}
