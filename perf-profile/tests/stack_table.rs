//! The table of stacks, held against the stacks that were put in.

use std::collections::{BTreeMap, BTreeSet};

use perf_abi::attr::Attr;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::record::CpuMode;
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Reader, Record};
use perf_profile::{Limits, StackTable};
use perf_session::Session;
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFinder, StackFrame, SymbolOptions, Symbolizer};

/// Call chains, unwound stacks, and samples of all kinds.
const CAPTURES: [&str; 4] = ["callchain.data", "everything.data", "system_wide.data", "dwarf.data"];

/// Numbers all stacks of a capture twice, and compares each with what the table has. Returns the number of stacks that came
/// again, and that of frames that were at several addresses.
fn number_all(capture: &str, reader: &Reader<'_>, max_stack: usize) -> (usize, usize) {
    let symbolizer = Symbolizer::new(SymbolOptions::default());
    let mut table = StackTable::default();
    // The numbers of the stacks, and the addresses of the frames.
    let (mut numbers, mut ips) = (BTreeMap::new(), BTreeMap::<u32, BTreeSet<u64>>::new());
    let (mut ends, mut again) = (BTreeMap::new(), 0);
    let mut session = Session::new();
    // The second walk has equal files, but not the same ones.
    for _ in 0..2 {
        session = Session::new();
        session.add_features(reader.features());
        let mut finder = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
        for record in reader.records().in_time_order() {
            let record = record.unwrap();
            let Some(at) = session.update_at(&record).unwrap() else { continue };
            let mut stack = Vec::new();
            let end = finder.push(&at, None, &mut stack).unwrap();
            let number = table.number(&at, &stack, end, None, max_stack, &Limits::default()).unwrap();
            let of_last = |last: &StackFrame<'_>| finder.end_of(at.session(), &last.frame);
            let found = end.or(stack.last().map(of_last)).unwrap_or(StackEnd::Truncated);
            *ends.entry(found).or_default() += 1_u64;
            let frames: Vec<_> = table.stacks.frames(number).collect();
            assert_eq!(frames.len(), stack.len().min(max_stack), "{capture}");
            for (&frame, it) in frames.iter().zip(&stack) {
                let place = table.frames.location(frame).unwrap();
                let (mapping, known) = (it.frame.mapping, table.frames.mapping(frame));
                assert_eq!(table.frames.dso_of(frame), mapping.map(|it| it.dso()), "{capture}");
                assert_eq!(known.map(|it| it.is_executable()), mapping.map(|it| it.is_executable()));
                assert_eq!(place.offset, mapping.map_or(it.frame.ip, |at| at.offset_of(it.frame.ip)));
                assert_eq!((place.mode, place.is_caller), (it.frame.mode, it.is_caller), "{capture}");
            }
            if max_stack >= stack.len() {
                let addresses = stack.iter().map(|it| it.frame.ip);
                frames.iter().zip(addresses).for_each(|(&frame, ip)| {
                    ips.entry(frame).or_default().insert(ip);
                });
                again += usize::from(numbers.insert((frames, end), number).is_some_and(|it| it == number));
            }
        }
    }
    let mut finder = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
    assert_eq!(table.ends(&session, &mut finder), ends, "{capture}");
    let places = (0..).zip(table.frames.locations());
    if max_stack == usize::MAX {
        for (number, place) in places {
            assert_eq!(place.is_at_several, ips[&number].len() > 1, "{capture}: {place:?}");
        }
    }
    let several = table.frames.locations().iter().filter(|place| place.is_at_several).count();
    (again, several)
}

#[test]
fn stacks_have_the_frames_that_were_put_in() {
    for capture in CAPTURES {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        let (again, _) = number_all(capture, &reader, usize::MAX);
        assert!(again > 0, "{capture}: no stack came again");
    }
}

#[test]
fn stacks_that_are_cut_have_the_innermost_frames() {
    for (capture, max_stack) in
        CAPTURES.into_iter().flat_map(|capture| [(capture, 0), (capture, 1), (capture, 3)])
    {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        number_all(capture, &reader, max_stack);
    }
}

/// The same stack in two processes: their program is at two addresses, their library at one. The last frame is nowhere.
#[test]
fn files_may_be_at_several_addresses() {
    let sample_type = SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN;
    let attr = Attr { sample_type, ..Attr::default() };
    let events = Events::from_iter([(attr, vec![])]);
    let mut records = Vec::new();
    for (pid, program) in [(10, 0x1000), (11, 0x5000), (10, 0x1000), (11, 0x5000)] {
        for (addr, prot, filename) in [
            (program, 5, &b"/bin/a"[..]),
            (0xa000, 5, b"/lib/b"),
            (0xb000, 1, b"/lib/b"),
            (0xc000, 7, b"//anon"),
        ] {
            let id = FileId::Inode { maj: 8, min: 1, ino: filename.len() as u64, ino_generation: 0 };
            let (len, prot_flags) = (0x1000, Some((prot, 2)));
            let mapping = Mmap2 {
                pid,
                tid: pid,
                addr,
                len,
                pgoff: 0,
                id,
                prot_flags,
                reading: Reading::Certain,
                filename,
            };
            let trailer = SampleIdFields::default();
            let record = Record::<LittleEndian>::Mmap2(mapping);
            write::record(&mut records, &events[0].layout, CpuMode::USER.into(), &record, &trailer).unwrap();
        }
        let of_files = [0xa010, 0xb010, program + 0x20, 0xf000];
        for frames in [&of_files[..], &of_files[1..], &[0xa010], &[0xb010], &[0xc010, program + 0x30], &[]] {
            let callchain = [&[CallchainContext::USER.0], frames].concat();
            let fields = SampleFields {
                pid_tid: Some((pid, pid)),
                time: Some(1),
                callchain: Some(callchain),
                ..SampleFields::default()
            };
            write::sample::<LittleEndian>(&mut records, &events[0].layout, CpuMode::USER.into(), &fields)
                .unwrap();
        }
    }
    let reader = Reader::from_records(events, Endianness::Little, &records);
    // Two frames of the program are at two addresses: one in stacks that are known, one in a stack
    // that is looked up each time, because it has generated code.
    let (again, several) = number_all("made", &reader, usize::MAX);
    assert!(again > 0);
    assert_eq!(several, 2);
}
