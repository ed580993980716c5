//! A table of stacks that several threads number, held against one that a single thread numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use perf_abi::regs::Arch;
use perf_parse::{EventRecord, Reader};
use perf_profile::{Limits, StackPart, StackTable};
use perf_session::{Frame, SampleContext, Session};
use perf_symbol::unwind::{FrameSource, StackEnd};
use perf_symbol::{StackFinder, StackFrame, SymbolOptions, Symbolizer};

/// Call chains of one and of many processes, unwound stacks, samples of all kinds, and generated code.
const CAPTURES: [&str; 4] = ["callchain.data", "everything.data", "system_wide.data", "dwarf.data"];

/// The numbers that a sample got: of its address, and of its stack.
type Numbers = (Option<u32>, Option<u32>);

struct Numbered {
    table: StackTable,
    samples: Vec<Numbers>,
    /// The number of stacks by their ends.
    ends: BTreeMap<StackEnd, u64>,
}

/// How stacks are kept, and how they are shared out.
#[derive(Clone, Copy, Debug)]
struct Case {
    max_stack: usize,
    limits: Limits,
    /// The number of parts, of records in a block, and the limits of a part.
    parts: usize,
    block: usize,
    of_part: Limits,
}

fn limits(frames: usize, stack_nodes: usize) -> Limits {
    let mut limits = Limits::default();
    (limits.frames, limits.stack_nodes) = (frames, stack_nodes);
    limits
}

fn own<'s>(at: &SampleContext<'s, '_>) -> StackFrame<'s> {
    let ip = at.sample().ip().unwrap_or(0);
    let frame = Frame { ip, mode: at.mode(), mapping: at.find(at.mode(), ip) };
    StackFrame { frame, is_caller: false, source: FrameSource::Chain }
}

fn finder() -> StackFinder {
    StackFinder::new(Arch::X86, 127, Symbolizer::new(SymbolOptions::default()).finder().clone())
}

fn by_one(reader: &Reader<'_>, case: &Case) -> Numbered {
    let (mut session, mut finder) = (Session::new(), finder());
    let mut numbered = Numbered { table: StackTable::default(), samples: Vec::new(), ends: BTreeMap::new() };
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        let Some(at) = session.update_at(&record).unwrap() else { continue };
        let mut stack = Vec::new();
        let end = finder.push(&at, None, &mut stack).unwrap();
        let Numbered { table, samples, .. } = &mut numbered;
        let frame = table.frames.number(&at, &own(&at), None, case.limits.frames);
        let Case { max_stack, limits, .. } = case;
        let stack = table.number(&at, &stack, end, None, *max_stack, limits);
        samples.push((frame, stack));
    }
    numbered.ends = numbered.table.ends(&session, &mut finder);
    numbered
}

fn by_parts(reader: &Reader<'_>, case: &Case) -> Numbered {
    let (mut session, mut finder) = (Session::new(), finder());
    let first = StackPart::new(case.max_stack, case.of_part);
    let mut parts: Vec<_> = (0..case.parts).map(|_| first.clone()).collect();
    let mut numbered = Numbered { table: StackTable::default(), samples: Vec::new(), ends: BTreeMap::new() };
    let records: Vec<_> = reader.records().in_time_order().map(Result::unwrap).collect();
    for (number, block) in records.chunks(case.block).enumerate() {
        let mut before = session.clone();
        block.iter().for_each(|record| session.update(record).unwrap());
        before = before.with_dsos_of(&session);
        let part = &mut parts[number % case.parts];
        let mut work = |record: &EventRecord<'_>| {
            let at = before.update_at(record).unwrap()?;
            let mut stack = Vec::new();
            let end = finder.push(&at, None, &mut stack).unwrap();
            Some((part.frame(&at, &own(&at), None), part.stack(&at, &stack, end, None)))
        };
        let found: Vec<_> = block.iter().filter_map(&mut work).collect();
        let Numbered { table, samples, .. } = &mut numbered;
        let part = table.take_over(part.take_new(), &session, &case.limits);
        for (frame, stack) in found {
            let frame = table.frame_of_part(part, frame);
            samples.push((frame, table.stack_of_part(part, stack, &case.limits)));
        }
    }
    numbered.ends = numbered.table.ends(&session, &mut finder);
    numbered
}

/// Returns the number of samples beyond the limits.
fn compare(reader: &Reader<'_>, case: &Case) -> usize {
    let (one, other) = (by_one(reader, case), by_parts(reader, case));
    assert!(!one.samples.is_empty());
    assert_eq!(other.samples, one.samples, "{case:?}");
    let places = |it: &Numbered| format!("{:?}", it.table.frames.locations());
    assert_eq!(places(&other), places(&one), "{case:?}");
    assert_eq!(other.table.frames.dsos(), one.table.frames.dsos(), "{case:?}");
    for number in 0..one.table.frames.locations().len() as u32 {
        let mapping = |it: &Numbered| it.table.frames.mapping(number).cloned();
        assert_eq!(mapping(&other), mapping(&one), "{case:?}");
        let dso = other.table.frames.dso_of(number);
        assert!(mapping(&other).is_none_or(|it| Arc::ptr_eq(it.dso(), dso.unwrap())), "{case:?}");
    }
    let nodes = |it: &Numbered| -> Vec<_> {
        (0..it.table.stacks.len() as u32).map(|stack| it.table.stacks.node(stack)).collect()
    };
    assert_eq!(nodes(&other), nodes(&one), "{case:?}");
    assert_eq!(other.ends, one.ends, "{case:?}");
    one.samples.iter().filter(|(frame, stack)| frame.is_none() || stack.is_none()).count()
}

/// Everything is kept.
fn all() -> Case {
    let limits = Limits::default();
    Case { max_stack: usize::MAX, limits, parts: 3, block: 7, of_part: limits }
}

#[test]
fn parts_make_the_same_table() {
    for capture in CAPTURES {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        for (parts, block) in [(1, usize::MAX), (1, 1), (2, 1), (3, 7), (8, 50)] {
            assert_eq!(compare(&reader, &Case { parts, block, ..all() }), 0, "{capture}");
        }
        for max_stack in [0, 1, 3] {
            assert_eq!(compare(&reader, &Case { max_stack, ..all() }), 0, "{capture}");
        }
    }
}

#[test]
fn parts_that_are_emptied_make_the_same_table() {
    for capture in CAPTURES {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        for of_part in [limits(0, usize::MAX), limits(20, usize::MAX), limits(usize::MAX, 20)] {
            assert_eq!(compare(&reader, &Case { of_part, ..all() }), 0, "{capture}");
        }
    }
}

#[test]
fn parts_leave_out_what_is_beyond_the_limits() {
    for capture in CAPTURES {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        let whole = by_one(&reader, &all()).table;
        let (frames, nodes) = (whole.frames.locations().len(), whole.stacks.len() - 1);
        for max_stack in [2, usize::MAX] {
            for few in [0, 1, 5, 10, frames / 2, frames - 1] {
                let limits = limits(few, usize::MAX);
                compare(&reader, &Case { limits, max_stack, ..all() });
                assert_eq!(compare(&reader, &Case { limits, ..all() }) > 0, few < frames, "{capture} {few}");
            }
            for few in [0, 1, 5, 10, nodes / 2, nodes - 1] {
                let limits = limits(usize::MAX, few);
                compare(&reader, &Case { limits, max_stack, ..all() });
                assert_eq!(compare(&reader, &Case { limits, ..all() }) > 0, few < nodes, "{capture} {few}");
            }
        }
        assert_eq!(compare(&reader, &Case { limits: limits(frames, nodes), ..all() }), 0, "{capture}");
    }
}
