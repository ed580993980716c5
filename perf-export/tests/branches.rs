//! Branches of captures: what is counted, and what limits leave out.

#![cfg(feature = "branches")]

use perf_export::branches::{autofdo, brstack, preagg};
use perf_parse::Reader;
use perf_profile::branches::{BranchFile, BranchProfile, BranchRange, Branches, FileAddresses};
use perf_session::{Segment, Session};

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

fn pre_aggregated(profiles: &[BranchProfile]) -> Vec<String> {
    lines(|out| preagg::write(profiles, &preagg::Options::default(), out))
}

fn autofdo_text(profiles: &[BranchProfile], options: &autofdo::Options) -> Vec<String> {
    lines(|out| autofdo::write(profiles, options, out))
}

#[test]
fn every_entry_is_counted() {
    let branches = recorded(usize::MAX);
    assert!(branches.stacks() > 0 && branches.entries() > branches.stacks());
    let segments = [Segment { offset: 0, address: 0x10_0000, size: u64::MAX >> 1, is_executable: true }];
    let addresses = FileAddresses::new(&segments);
    let mut total = 0;
    for file in branches.files() {
        assert_eq!(file.beyond, 0);
        assert_eq!(file.traces.values().map(|it| it.count).sum::<u64>(), file.entries);
        assert!(file.traces.values().all(|it| it.mispredicted <= it.count));
        let text = pre_aggregated(&[file.profile(addresses, &mut |_| None)]);
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
fn branches_beyond_the_limit_are_counted() {
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
fn offsets_in_no_segment_are_outside() {
    let branches = recorded(usize::MAX);
    let file = branches.busiest(|_| true).unwrap();
    let addresses = FileAddresses::new(&[]);
    let profile = file.profile(addresses, &mut |_| None);
    assert_eq!(profile, BranchProfile::default());
    assert!(pre_aggregated(std::slice::from_ref(&profile)).is_empty());
    assert_eq!(autofdo_text(&[profile], &autofdo::Options::default()), ["0", "0", "0"]);
    assert!(lines(|out| brstack::write_mapping(b"a", addresses, out)).is_empty());
}

/// Returns the branches of a file whose only segment starts at an address, and whose functions have 4 KiB.
fn of_busiest(address: u64) -> BranchProfile {
    let branches = recorded(usize::MAX);
    let segments = [Segment { offset: 0, address, size: u64::MAX >> 1, is_executable: true }];
    let file = branches.busiest(|_| true).unwrap();
    file.profile(FileAddresses::new(&segments), &mut |offset| Some(offset & !0xfff))
}

#[test]
fn branches_between_functions_are_told_apart() {
    let profile = of_busiest(0);
    let is_external = |it: &&BranchRange| it.is_external;
    let (external, internal) =
        (profile.ranges.iter().filter(is_external), profile.ranges.iter().filter(|it| !it.is_external));
    let text = pre_aggregated(std::slice::from_ref(&profile));
    let of_kind = |kind: char| text.iter().filter(|line| line.starts_with(kind)).count();
    assert_eq!((of_kind('f'), of_kind('F')), (external.count(), internal.count()));
    assert!(of_kind('f') > 0 && of_kind('F') > 0);
}

/// AutoFDO's addresses count from the first segment, so a file that is linked elsewhere has the same text.
#[test]
fn captures_are_added_up() {
    let options = autofdo::Options::default();
    let once = autofdo_text(&[of_busiest(0x40_0000)], &options);
    let twice = autofdo_text(&[of_busiest(0x40_0000), of_busiest(0x80_0000)], &options);
    let doubled = |line: &String| match line.rsplit_once(':') {
        Some((key, count)) => format!("{key}:{}", 2 * count.parse::<u64>().unwrap()),
        None => line.clone(),
    };
    assert_eq!(twice, once.iter().map(doubled).collect::<Vec<_>>());
    let profile = of_busiest(0x40_0000);
    let twice = pre_aggregated(&[profile.clone(), profile.clone()]);
    assert_eq!(twice.len(), profile.branches.len() + profile.ranges.len());
    let entries: u64 = profile.branches.iter().map(|it| it.count.count).sum();
    let of_branches = twice.iter().filter(|line| line.starts_with('B'));
    let counts = of_branches.map(|line| line.split(' ').nth(3).unwrap().parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), 2 * entries);
}

#[test]
fn ranges_that_are_too_long_are_left_out() {
    let profile = of_busiest(0);
    let longest = profile.ranges.iter().map(|it| it.end - it.begin).max().unwrap();
    let ranges = |max_range| {
        let mut options = autofdo::Options::default();
        options.max_range = max_range;
        autofdo_text(std::slice::from_ref(&profile), &options)[0].parse::<usize>().unwrap()
    };
    assert!(longest > 0 && ranges(longest - 1) < ranges(longest));
}
