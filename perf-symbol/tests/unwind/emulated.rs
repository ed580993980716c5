//! Stacks of programs of other machines, recorded under an emulator: see `testdata/unwind/make.sh`.

use std::path::Path;
use std::sync::Arc;

use perf_parse::Reader;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::regs::Arch;
use perf_parse::feature::FeatureData;
use perf_session::{Dso, Session};
use perf_symbol::FileBytes;
use perf_symbol::unwind::{FrameSource, Module, StackEnd, Unwinder};

/// The stack has the return addresses that the functions noted themselves.
fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/unwind");
    let noted = std::fs::read_to_string(folder.join(format!("{name}.expected"))).unwrap();
    let noted: Vec<_> = noted.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect();
    assert!(noted.len() >= 10);
    let capture = std::fs::read(folder.join(format!("{name}.data"))).unwrap();
    let reader = Reader::new(&capture).unwrap();
    let Ok(FeatureData::Arch(machine)) = reader.features().get(Feature::ARCH).unwrap().decode() else {
        panic!()
    };
    let arch = Arch::from_machine(machine.to_str().unwrap()).unwrap();
    let (mut session, mut unwinder) = (Session::new(), Unwinder::new(arch));
    let mut module_of = |dso: &Dso| {
        let path = folder.join(std::str::from_utf8(dso.name()).unwrap().trim_start_matches('/'));
        Some(Arc::new(Module::parse(FileBytes::new(std::fs::read(path).unwrap())).unwrap()))
    };
    let mut stacks = 0;
    for record in reader.records() {
        let record = record.unwrap();
        session.update(&record).unwrap();
        let Some(at) = session.at(&record) else { continue };
        let mut frames = Vec::new();
        let unwound = unwinder.unwind(&at, None, &mut module_of, &mut frames).unwrap().unwrap();
        assert_eq!(unwound.end, StackEnd::Rooted);
        // The innermost function and the one that printed the notes; then those that noted.
        assert_eq!(Some(frames[0].ip), at.sample().ip());
        assert_eq!(frames[2..].iter().map(|frame| frame.ip).collect::<Vec<_>>(), noted);
        assert!(frames[1..].iter().all(|frame| frame.source == FrameSource::Cfi));
        stacks += 1;
    }
    assert_eq!(stacks, 1);
}

#[test]
fn arm64() {
    check("aarch64");
}

/// By `.ARM.exidx` alone.
#[test]
fn arm_of_32_bits() {
    check("arm");
    check("thumb");
}

#[test]
fn x86_of_32_bits() {
    check("i686");
}
