//! Code in a library of an apk that is mapped.

use std::io;
use std::path::Path;
use std::sync::Arc;

use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::Reader;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::regs::Arch;
use perf_parse::event::Events;
use perf_session::Session;
use perf_symbol::{FileBytes, FileFinder, Files, StackFinder, SymbolOptions};
use testdata::elf::TEXT_OFFSET;
use testdata::zip::Zip;

use crate::{BASE, EXEC, READ, code, place, program, sample};

/// An apk, by its path.
struct Apk(Vec<u8>);

impl Files for Apk {
    fn read(&self, path: &Path, _limit: u64) -> io::Result<FileBytes> {
        if path != Path::new("/base.apk") {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(FileBytes::new(self.0.clone()))
    }
}

#[test]
fn a_library_in_an_apk_is_unwound() {
    let library = program(&[(0x100, 0x100, vec![(0, Cfi::CfaOffset(16))])]);
    let (zip, _) = Zip::default().file("other.so", &program(&[(0x100, 0x100, vec![])]).build());
    let (zip, start) = zip.file("lib/x86_64/x.so", &library.build());
    let mut by_offset = sample(0x108, &[0, code(0x118), 0, code(0xf08)]);
    by_offset.mappings = vec![
        (BASE, TEXT_OFFSET, start, READ, "/base.apk"),
        (code(0), 0x1000, start + TEXT_OFFSET, READ | EXEC, "/base.apk"),
    ];
    let mut by_path = by_offset.clone();
    by_path.mappings = vec![(code(0), 0x1000, TEXT_OFFSET, READ | EXEC, "/base.apk!/lib/x86_64/x.so")];
    let apk: Arc<dyn Files> = Arc::new(Apk(zip.build()));
    for sample in [by_offset, by_path] {
        let events: Events = [(sample.attr(), vec![])].into_iter().collect();
        let data = sample.records();
        let finder = FileFinder::new(Arc::clone(&apk), Arc::new(SymbolOptions::default()));
        let mut stacks = StackFinder::new(Arch::X86, 127, finder).with_max_stack(100);
        let mut session = Session::new();
        let mut found = Vec::new();
        for record in Reader::from_records(events, Endianness::Little, &data).records() {
            let record = record.unwrap();
            let Some(at) = session.update_at(&record).unwrap() else { continue };
            let mut frames = Vec::new();
            stacks.push(&at, None, &mut frames).unwrap();
            found.push(frames.iter().map(|it| place(it.frame.ip)).collect::<Vec<_>>());
        }
        assert_eq!(found, [[0x108, 0x118, 0xf08]]);
    }
}
