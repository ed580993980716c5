//! The stacks of samples.

use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::callchain::CallchainContext;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::record::CpuMode;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::file::FileErrorKind;
use perf_session::{Session, SessionLimits};
use testdata::Bytes;

use crate::{GUEST_USER, KERNEL, Records, USER, play};

const K: u64 = CallchainContext::KERNEL.0;
const U: u64 = CallchainContext::USER.0;
const DEFERRED: u64 = CallchainContext::USER_DEFERRED.0;

const CHAIN: SampleType = SampleType::IP.union(SampleType::TID).union(SampleType::CALLCHAIN);

fn attr(sample_type: SampleType, branches: BranchSampleType) -> Attr {
    Attr { sample_type, branch_sample_type: branches, ..Attr::default() }
}

/// The text of the kernel at 0x8000, and a process with code at 0x1000.
fn mapped(it: Records) -> Records {
    let it = it.kernel(0x8000, 0x1000, 0x8000, "[kernel.kallsyms]_text");
    it.comm(5, 5, "x").map(5, 0x1000, 0x2000, "/x").map(5, 0x2000, 0x3000, "/lib")
}

/// A frame: its address, mode, and the name of what it is in.
type Found = (u64, CpuMode, String);

/// The stack of a sample: payload after the ids.
fn stack(attr: &Attr, misc: u16, rest: impl Fn(Bytes) -> Bytes, deferred: Option<&[u64]>) -> Vec<Found> {
    let records = |it: Records| {
        let it = mapped(it);
        let payload = rest(it.bytes().u64(0x1111).i32(5).i32(5));
        it.record(9, misc, payload)
    };
    play(attr, &SessionLimits::default(), records, |it, record| {
        let at = it.at(record).unwrap();
        let stack = at.stack(deferred).unwrap();
        stack
            .map(|frame| {
                let name =
                    frame.mapping.map_or(String::new(), |it| it.dso().name().escape_ascii().to_string());
                (frame.ip, frame.mode, name)
            })
            .collect()
    })
}

fn chain(misc: u16, words: &[u64], deferred: Option<&[u64]>) -> Vec<Found> {
    let attr = attr(CHAIN, BranchSampleType(0));
    stack(&attr, misc, |it| it.u64(words.len() as u64).u64s(words), deferred)
}

fn user(ip: u64, name: &str) -> Found {
    (ip, CpuMode::USER, name.into())
}

fn kernel(ip: u64, name: &str) -> Found {
    (ip, CpuMode::KERNEL, name.into())
}

#[test]
fn of_the_kernel_and_of_the_process() {
    let found =
        chain(KERNEL, &[K, 0x8000, 0x1000, 0x8fff, 0x9000, U, 0x1000, 0x1fff, 0x2000, 0x1500, 0x8000], None);
    let expected = [
        kernel(0x8000, "[kernel.kallsyms]"),
        // An address of the process is none of the kernel.
        kernel(0x1000, ""),
        kernel(0x8fff, "[kernel.kallsyms]"),
        kernel(0x9000, ""),
        user(0x1000, "/x"),
        user(0x1fff, "/x"),
        user(0x2000, "/lib"),
        user(0x1500, "/x"),
        user(0x8000, ""),
    ];
    assert_eq!(found, expected);
}

#[test]
fn before_the_first_marker_it_is_the_process() {
    assert_eq!(
        chain(USER, &[0x1000, K, 0x8000], None),
        [user(0x1000, "/x"), kernel(0x8000, "[kernel.kallsyms]")]
    );
}

#[test]
fn of_markers_alone_and_of_none() {
    assert!(chain(USER, &[K, U], None).is_empty());
    assert!(chain(USER, &[], None).is_empty());
}

#[test]
fn after_markers_of_which_nothing_is_mapped() {
    let unknown = u64::MAX - 999;
    let words = [
        CallchainContext::HV.0,
        0x1000,
        unknown,
        0x1000,
        CallchainContext::GUEST_KERNEL.0,
        0x8000,
        CallchainContext::GUEST_USER.0,
        0x1000,
        U,
        0x1000,
    ];
    let expected = [
        (0x1000, CpuMode::HYPERVISOR, String::new()),
        (0x1000, CpuMode::CPUMODE_UNKNOWN, String::new()),
        (0x8000, CpuMode::GUEST_KERNEL, String::new()),
        (0x1000, CpuMode::GUEST_USER, String::new()),
        user(0x1000, "/x"),
    ];
    assert_eq!(chain(USER, &words, None), expected);
}

#[test]
fn without_a_chain_it_is_the_instruction_pointer() {
    let plain = attr(SampleType::IP | SampleType::TID, BranchSampleType(0));
    assert_eq!(stack(&plain, USER, |it| it, None), [user(0x1111, "/x")]);
    assert_eq!(stack(&plain, KERNEL, |it| it, None), [kernel(0x1111, "")]);
    assert_eq!(stack(&plain, 0, |it| it, None), [(0x1111, CpuMode::CPUMODE_UNKNOWN, String::new())]);
    assert_eq!(stack(&plain, GUEST_USER, |it| it, None), [(0x1111, CpuMode::GUEST_USER, String::new())]);
}

#[test]
fn without_an_instruction_pointer_there_is_none() {
    let attr = attr(SampleType::TID, BranchSampleType(0));
    let records = |it: Records| {
        let payload = it.bytes().i32(5).i32(5);
        it.record(9, USER, payload)
    };
    let frames = play(&attr, &SessionLimits::default(), records, |it, record| {
        it.at(record).unwrap().stack(None).unwrap().count()
    });
    assert_eq!(frames, 0);
}

#[test]
fn the_part_that_came_later() {
    let words = [K, 0x8000, DEFERRED, 77];
    let first = kernel(0x8000, "[kernel.kallsyms]");
    assert_eq!(chain(KERNEL, &words, None), std::slice::from_ref(&first));
    let later = [0x1000, 0x2000];
    assert_eq!(
        chain(KERNEL, &words, Some(&later)),
        [first.clone(), user(0x1000, "/x"), user(0x2000, "/lib")]
    );
    // The record may begin with its marker.
    assert_eq!(chain(KERNEL, &words, Some(&[U, 0x1000])), [first.clone(), user(0x1000, "/x")]);
    // A chain that is not deferred has no later part.
    assert_eq!(chain(KERNEL, &[K, 0x8000], Some(&later)), [first]);
}

/// A sample with a chain and the branches of its call stack, innermost first: from, to.
fn lbr(words: &[u64], branches: &[(u64, u64)], kind: BranchSampleType) -> Vec<Found> {
    let attr = attr(CHAIN | SampleType::BRANCH_STACK, kind);
    let rest = |it: Bytes| {
        let it = it.u64(words.len() as u64).u64s(words).u64(branches.len() as u64);
        branches.iter().fold(it, |it, &(from, to)| it.u64s(&[from, to, 0]))
    };
    stack(&attr, KERNEL, rest, None)
}

#[test]
fn of_branches() {
    let words = [K, 0x8000, U, 0x1999, 0x1888];
    let branches = [(0x1500, 0x2500), (0x1400, 0x1490)];
    let found = lbr(&words, &branches, BranchSampleType::CALL_STACK | BranchSampleType::USER);
    let expected = [
        kernel(0x8000, "[kernel.kallsyms]"),
        // Where the innermost function was entered, then where each was called.
        user(0x2500, "/lib"),
        user(0x1500, "/x"),
        user(0x1400, "/x"),
    ];
    assert_eq!(found, expected);
}

/// The addresses of the branches are those of calls, and not return addresses.
#[test]
fn addresses_are_of_branches() {
    let is_in_branches = |kind| {
        let attr = attr(CHAIN | SampleType::BRANCH_STACK, kind);
        let records = |it: Records| {
            let it = mapped(it);
            let payload =
                it.bytes().u64(0x1111).i32(5).i32(5).u64s(&[3, K, 0x8000, 0x8010, 1, 0x1500, 0x2500, 0]);
            it.record(9, KERNEL, payload)
        };
        play(&attr, &SessionLimits::default(), records, |it, record| {
            let at = it.at(record).unwrap();
            let mut stack = at.stack(None).unwrap();
            let mut found = Vec::new();
            while stack.next().is_some() {
                found.push(stack.is_in_branches());
            }
            found
        })
    };
    assert_eq!(is_in_branches(BranchSampleType::CALL_STACK), [false, false, true, true]);
    assert_eq!(is_in_branches(BranchSampleType::ANY), [false, false]);
}

#[test]
fn of_branches_without_a_part_of_the_kernel() {
    let found = lbr(&[U, 0x1999], &[(0x1500, 0x2500)], BranchSampleType::CALL_STACK);
    assert_eq!(found, [user(0x2500, "/lib"), user(0x1500, "/x")]);
    assert_eq!(lbr(&[], &[(0x1500, 0x2500)], BranchSampleType::CALL_STACK), found);
}

#[test]
fn branches_that_are_no_call_stack() {
    let chain = [user(0x1999, "/x")];
    assert_eq!(lbr(&[U, 0x1999], &[(0x1500, 0x2500)], BranchSampleType::ANY), chain);
    // No branches were recorded.
    assert_eq!(lbr(&[U, 0x1999], &[], BranchSampleType::CALL_STACK), chain);
}

#[test]
fn errors_leave_the_state_as_before() {
    for big in [false, true] {
        let mut it = mapped(Records { big, out: Vec::new() });
        let whole = it.out.len();
        // A chain with more words than there are, a sample that ends in its ids, records that end in their fields.
        let payload = it.bytes().u64(0x1111).i32(5).i32(5).u64(9).u64(0x1000);
        it = it.record(9, USER, payload);
        let payload = it.bytes().u64(0x1111);
        it = it.record(9, USER, payload);
        for kind in [1, 3, 4, 7, 10, 17, 19] {
            let payload = it.bytes().u32(6);
            it = it.record(kind, 0, payload);
        }
        let endianness = if big { Endianness::Big } else { Endianness::Little };
        let events: Events = [(attr(CHAIN, BranchSampleType(0)), vec![])].into_iter().collect();
        let reader = Reader::from_records(events, endianness, &it.out);
        let mut session = Session::new();
        let (mut before, mut faults) = (String::new(), 0);
        for record in reader.records() {
            let record = record.unwrap();
            let found = session.update(&record);
            if record.offset() < whole as u64 {
                found.unwrap();
                before = format!("{session:?}");
                continue;
            }
            match found {
                // The leading fields are whole, the chain is not.
                Ok(()) => {
                    let error = session.at(&record).unwrap().stack(None).unwrap_err();
                    assert!(matches!(error.kind, FileErrorKind::Record { .. }), "{error}");
                }
                Err(error) => {
                    assert_eq!(Some(error), record.decode().err());
                    assert!(session.at(&record).is_none());
                }
            }
            faults += 1;
            assert_eq!(format!("{session:?}"), before);
        }
        assert_eq!(faults, 9);
    }
}

#[test]
fn a_sample_of_an_unknown_event_is_an_error() {
    let records = Records { big: false, out: Vec::new() }.sample(USER, 5, 5);
    let reader = Reader::from_records(Events::default(), Endianness::Little, &records.out);
    let mut session = Session::new();
    let record = reader.records().next().unwrap().unwrap();
    assert_eq!(session.update(&record), record.decode().map(drop));
    assert!(session.at(&record).is_none());
    assert_eq!(crate::known(&session).len(), 0);
}

/// The stack of a kernel sample of a process that has called exec, after the records that `more` adds.
fn stack_after_exec(more: impl Fn(Records) -> Records) -> Vec<Found> {
    let records = |it: Records| {
        let it = more(mapped(it).exec(5, 5, "y").map(5, 0x2000, 0x3000, "/y"));
        let words = [U, 0x1800, 0x2800];
        let payload = it.bytes().u64(0x8001).i32(5).i32(5).u64(words.len() as u64).u64s(&words);
        it.record(9, KERNEL, payload)
    };
    play(&attr(CHAIN, BranchSampleType(0)), &SessionLimits::default(), records, |it, record| {
        let name = |frame: perf_session::Frame<'_>| {
            let name = frame.mapping.map_or(&b""[..], |it| it.dso().name()).escape_ascii().to_string();
            (frame.ip, frame.mode, name)
        };
        it.at(record).unwrap().stack(None).unwrap().map(name).collect()
    })
}

#[test]
fn of_an_exec_that_has_not_returned() {
    // The kernel still has the stack of the caller.
    assert_eq!(stack_after_exec(|it| it), [user(0x1800, "/x"), user(0x2800, "/y")]);
    let runs = |it: Records| {
        let payload = it.bytes().u64(0x2001).i32(5).i32(5).u64(0);
        it.record(9, USER, payload)
    };
    assert_eq!(stack_after_exec(runs), [user(0x1800, ""), user(0x2800, "/y")]);
    assert_eq!(stack_after_exec(|it| it.exec(5, 5, "z")), [user(0x1800, ""), user(0x2800, "/y")]);
}

#[test]
fn data_of_the_process_and_of_the_kernel() {
    let found = |misc: u16, addr: u64| {
        let records = |it: Records| {
            let it =
                it.kernel(1 << 63, 0x1000, 1 << 63, "[kernel.kallsyms]_text").map(5, 0x1000, 0x2000, "/x");
            let payload = it.bytes().u64(0x1111).i32(5).i32(5);
            it.record(9, misc, payload)
        };
        let sample_type = SampleType::IP.union(SampleType::TID);
        play(&attr(sample_type, BranchSampleType(0)), &SessionLimits::default(), records, |it, record| {
            let mapping = it.at(record).unwrap().find_data(addr);
            mapping.map_or(String::new(), |it| it.dso().name().escape_ascii().to_string())
        })
    };
    for misc in [KERNEL, USER] {
        assert_eq!(found(misc, 0x1800), "/x");
        assert_eq!(found(misc, (1 << 63) + 0x800), "[kernel.kallsyms]");
        assert_eq!(found(misc, 0x2800), "");
    }
    assert_eq!(found(3, 0x1800), "", "of the hypervisor nothing is known");
    assert_eq!(found(GUEST_USER, 0x1800), "");
}
