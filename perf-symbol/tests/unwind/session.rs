//! State that is kept from sample to sample.

use std::sync::Arc;

use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::Reader;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::regs::Arch;
use perf_parse::event::Events;
use perf_session::{Dso, Session};
use perf_symbol::FileBytes;
use perf_symbol::unwind::{FrameSource, Module, StackEnd, Unwinder};
use testdata::elf::{Elf, TEXT_OFFSET};
use testdata::stack_sample::StackSample;

use crate::{EXEC, READ, code, place, program, sample};

/// Unwinds samples one after the other; `elf` returns the file by its name, and each is asked for once. Two unwinders that
/// share the samples find the same.
fn unwind_all(
    samples: &[StackSample],
    elf: impl Fn(&str) -> Elf,
) -> Vec<(Vec<u64>, StackEnd, Vec<FrameSource>)> {
    let data: Vec<u8> = samples.iter().flat_map(StackSample::records).collect();
    let events: Events = [(samples[0].attr(), vec![])].into_iter().collect();
    let reader = Reader::from_records(events, Endianness::Little, &data);
    let (mut session, mut unwinder) = (Session::new(), Unwinder::new(Arch::X86));
    let mut shared = [Unwinder::new(Arch::X86), Unwinder::new(Arch::X86)];
    let mut earlier = shared[0].earlier();
    let (mut found, mut asked) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.unwrap();
        session.update(&record).unwrap();
        let Some(at) = session.at(&record) else { continue };
        let mut frames = Vec::new();
        let mut module_of = |dso: &Dso| {
            let name = std::str::from_utf8(dso.name()).unwrap();
            assert!(!asked.contains(&name.to_owned()), "{name} is asked for twice");
            asked.push(name.to_owned());
            Some(Arc::new(Module::parse(FileBytes::new(elf(name).build())).unwrap()))
        };
        let unwound = unwinder.unwind(&at, None, &mut module_of, &mut frames).unwrap().unwrap();
        assert_eq!(unwound.spliced, frames.iter().any(|frame| frame.source == FrameSource::Earlier));
        let mut of_name = |dso: &Dso| {
            let elf = elf(std::str::from_utf8(dso.name()).unwrap());
            Some(Arc::new(Module::parse(FileBytes::new(elf.build())).unwrap()))
        };
        let (unwinder, mut of_shared) = (&mut shared[found.len() % 2], Vec::new());
        let alone = unwinder.unwind_alone(&at, None, &mut of_name, &mut of_shared).unwrap().unwrap();
        assert_eq!(earlier.complete(&alone, &mut of_shared), unwound);
        assert_eq!(of_shared, frames);
        let sources = frames.iter().map(|frame| frame.source).collect();
        found.push((frames.iter().map(|frame| place(frame.ip)).collect(), unwound.end, sources));
    }
    found
}

/// Another file, with other tables, is mapped at the same addresses; then the first one again.
#[test]
fn mappings_change() {
    let elf = |name: &str| match name {
        "/x" => program(&[(0x100, 0x10, vec![])]),
        _ => program(&[(0x100, 0x10, vec![(0, Cfi::CfaOffset(16))])]),
    };
    let one = sample(0x108, &[code(0xf08), code(0xf09)]);
    let mut other = one.clone();
    other.mappings = vec![(code(0), 0x1000, TEXT_OFFSET, READ | EXEC, "/y")];
    let found = unwind_all(&[one.clone(), other, one], elf);
    let stacks: Vec<_> = found.into_iter().map(|(stack, ..)| stack).collect();
    assert_eq!(stacks, [[0x108, 0xf08], [0x108, 0xf09], [0x108, 0xf08]]);
}

/// The outermost frames of a thread, of which the copy of one stack does not have all.
#[test]
fn outermost_frames_are_known() {
    let elf = |_: &str| program(&[(0x100, 0x100, vec![(0, Cfi::CfaOffset(16))]), (0x300, 0x10, vec![])]);
    // The stacks have the frames of 0x118 and of the root at the same places.
    let stack = |leaf: u64| {
        sample(0x300 + leaf, &[code(0x108 + leaf), 0, code(0x118), 0, code(0x128), 0, code(0xf08)])
    };
    let mut short = stack(9);
    short.stack.truncate(6 * 8);
    let whole: Vec<_> = (0..8).map(stack).collect();
    let found = unwind_all(
        &[&whole[..7], std::slice::from_ref(&short), &whole[7..], std::slice::from_ref(&short)].concat(),
        elf,
    );
    assert_eq!(found[7].0, [0x309, 0x111, 0x118, 0x128]);
    assert_eq!(found[7].1, StackEnd::Truncated);
    assert_eq!(found[9].0, [0x309, 0x111, 0x118, 0x128, 0xf08]);
    assert_eq!(found[9].1, StackEnd::Completed);
    assert_eq!(found[9].2[3..], [FrameSource::Cfi, FrameSource::Earlier]);
}
