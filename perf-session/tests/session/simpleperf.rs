//! Captures of Android's simpleperf: their symbols, mappings and names.

use perf_abi::attr::Attr;
use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_parse::Reader;
use perf_parse::event::Events;
use perf_parse::feature::Features;
use perf_session::{Mapping, Session, SessionLimits};
use testdata::Bytes;

use crate::{EXEC, Id, READ, Records, USER, session, session_within, text};

const KERNEL_SYMBOL: u32 = 32769;
const DSO: u32 = 32770;
const SYMBOL: u32 = 32771;
const SPLIT: u32 = 32772;
const SPLIT_END: u32 = 32773;

/// `DsoType` of simpleperf.
const OF_KERNEL: u32 = 0;
const OF_MODULE: u32 = 1;
const OF_ELF: u32 = 2;
const OF_DEX: u32 = 3;
const OF_MAP: u32 = 4;

/// The protection of code of a JIT compiler.
const JIT: u32 = 0x4000;

impl Records {
    fn dso(self, kind: u32, number: u64, min_vaddr: u64, path: &str) -> Self {
        let payload = text(self.bytes().u64s(&[kind.into(), number, min_vaddr]), path);
        self.record(DSO, 0, payload)
    }

    fn symbol(self, number: u64, start: u64, len: u64, name: &str) -> Self {
        let payload = text(self.bytes().u64s(&[start, len, number]), name);
        self.record(SYMBOL, 0, payload)
    }

    fn kallsyms(self, lines: &str) -> Self {
        let payload = self
            .bytes()
            .u32(lines.len() as u32)
            .padded(lines.as_bytes(), (lines.len() + 4).next_multiple_of(8) - 4);
        self.record(KERNEL_SYMBOL, 0, payload)
    }
}

/// The mapping of process 5 at an address, and the name and the offset of the symbol there.
fn named(session: &Session, ip: u64) -> (Mapping, Option<String>) {
    let maps = session.thread(5).map_or(session.kernel_maps(), |thread| session.maps(thread).unwrap());
    let mapping = maps.find(ip).or_else(|| session.kernel_maps().find(ip)).unwrap().clone();
    let name = session.recorded_file(mapping.dso()).and_then(|file| {
        let address = file.address_of(&mapping, ip);
        let it = file.find(address)?;
        Some(format!("{}+{:x}", String::from_utf8_lossy(it.name), address - it.start))
    });
    (mapping, name)
}

fn name_of(session: &Session, ip: u64) -> Option<String> {
    named(session, ip).1
}

#[test]
fn symbols_of_records() {
    let it = session(|it| {
        let it = it.map(5, 0x1000, 0x3000, "/x").dso(OF_ELF, 7, 0x40_0000, "/x");
        // In any order, and one of a file that no record has.
        it.symbol(7, 0x40_0200, 0x10, "g").symbol(7, 0x40_0100, 0x20, "f").symbol(8, 0x40_0300, 0x10, "h")
    });
    assert!(it.is_of_simpleperf());
    let (mapping, _) = named(&it, 0x1000);
    let file = it.recorded_file(mapping.dso()).unwrap();
    assert_eq!((file.len(), file.is_empty(), file.kind().0), (2, false, OF_ELF));
    assert_eq!(
        file.symbols().map(|it| (it.name, it.start, it.end)).collect::<Vec<_>>(),
        [(&b"f"[..], 0x40_0100, 0x40_0120), (b"g", 0x40_0200, 0x40_0210)]
    );
    let of = |ip| name_of(&it, ip);
    assert_eq!([of(0x1100), of(0x111f), of(0x120f)].map(Option::unwrap), ["f+0", "f+1f", "g+f"]);
    assert_eq!([of(0x10ff), of(0x1120), of(0x1210), of(0x1300)], [None, None, None, None]);
    assert!(!session(|it| it.map(5, 0x1000, 0x3000, "/x")).is_of_simpleperf());
}

/// A file of the feature FILE with one symbol `f` of 16 bytes.
fn file(kind: u32, min_vaddr: u64, offset: Option<u64>, start: u64, path: &str) -> Vec<u8> {
    let bytes = Bytes::new(false).raw(path.as_bytes()).zeros(1).u32(kind).u64(min_vaddr).u32(1);
    let bytes = bytes.u64(start).u32(16).raw(b"f\0");
    let bytes = if kind == OF_DEX { bytes.u32(0) } else { bytes };
    let body = offset.map_or(bytes.clone(), |offset| bytes.u64(offset)).out;
    Bytes::new(false).u32(body.len() as u32).raw(&body).out
}

fn with_features(sections: &[(Feature, Vec<u8>)], records: impl Fn(Records) -> Records) -> Session {
    let mut features = Features::new(Endianness::Little);
    for (feature, bytes) in sections {
        features.set(*feature, 0, bytes.clone());
    }
    let mut session = Session::new();
    session.add_features(&features);
    let data = records(Records { big: false, out: Vec::new() }).out;
    let events: Events = [(Attr::default(), vec![])].into_iter().collect();
    for record in Reader::from_records(events, Endianness::Little, &data).records() {
        session.update(&record.unwrap()).unwrap();
    }
    session
}

#[test]
fn each_kind_has_its_addresses() {
    let at =
        |prot| move |it: Records| it.mmap2(USER, 5, (0x7000, 0x1000, 0x3000), &Id::Inode(7), (prot, 2), "/x");
    let start_of = |file: Vec<u8>, prot| {
        let it = with_features(&[(Feature::FILE, file)], at(prot));
        assert!(it.is_of_simpleperf());
        (0x7000..0x8000).find(|&ip| name_of(&it, ip).is_some())
    };
    // By the offset in the file: the mapping is of a part of the segment.
    assert_eq!(start_of(file(OF_ELF, 0x5000, Some(0x2000), 0x6010, "/x"), EXEC), Some(0x7010));
    // By the start of the mapping, where the offset is not known.
    assert_eq!(start_of(file(OF_ELF, 0x5000, None, 0x5010, "/x"), EXEC), Some(0x7010));
    assert_eq!(start_of(file(OF_ELF, 0x5000, Some(u64::MAX), 0x5010, "/x"), EXEC), Some(0x7010));
    // By the offset in the file alone.
    assert_eq!(start_of(file(OF_DEX, 0, None, 0x3010, "/x"), READ), Some(0x7010));
    // Symbols of generated code have its addresses.
    assert_eq!(start_of(file(OF_ELF, 0, Some(0), 0x7010, "/x"), JIT), Some(0x7010));
    assert_eq!(start_of(file(OF_MAP, 0, None, 0x7010, "/x"), EXEC), Some(0x7010));
    assert_eq!(start_of(file(OF_ELF, 0, Some(0), 0x7010, "/y"), JIT), None, "another path");
}

#[test]
fn symbols_of_the_kernel_and_its_modules() {
    let kernel = file(OF_KERNEL, 0, None, 0xffff_0010, "[kernel.kallsyms]");
    let module = file(OF_MODULE, 0x100, Some(0x40), 0x110, "/lib/a.ko");
    let it = with_features(&[(Feature::FILE, [kernel, module].concat())], |it| {
        it.kernel(0xffff_0000, 0x1000, 0, "[kernel.kallsyms]").kernel(0xfff0_0000, 0x1000, 0, "/lib/a.ko")
    });
    assert_eq!(name_of(&it, 0xffff_0012).unwrap(), "f+2");
    assert_eq!(name_of(&it, 0xfff0_0051).unwrap(), "f+1");
    assert_eq!(name_of(&it, 0xfff0_0060), None);
}

/// simpleperf names the map of a process without its folder.
#[test]
fn symbols_of_a_perf_map() {
    let map = file(OF_MAP, 0, None, 0x1010, "perf-5.map");
    let it = with_features(&[(Feature::FILE, map)], |it| {
        it.mmap2(USER, 5, (0x1000, 0x1000, 0), &Id::Inode(0), (EXEC, 0x22), "//anon")
    });
    assert_eq!(name_of(&it, 0x101f).unwrap(), "f+f");
}

#[test]
fn code_of_a_jit_compiler_has_addresses_and_no_offsets() {
    let of = |path: &'static str| {
        let it = session(|it| it.mmap2(USER, 5, (0x1000, 0x1000, 0x80), &Id::Inode(0), (JIT, 0), path));
        named(&it, 0x1000).0
    };
    let mapping = of("/p_jit_app_cache:128-160");
    assert!(mapping.is_jit_symfile() && mapping.is_executable());
    assert_eq!((mapping.prot(), mapping.offset_of(0x1010)), (EXEC, 0x1010));
    assert_eq!(
        (mapping.dso().name(), mapping.dso().path()),
        (&b"[JIT app cache]"[..], &b"/p_jit_app_cache:128-160"[..])
    );
    assert_eq!(of("p_jit_zygote_cache:1-2").dso().name(), b"[JIT zygote cache]");
    assert_eq!(of("/data/TemporaryFile-abc").dso().name(), b"/data/TemporaryFile-abc");
    let it = session(|it| it.map(5, 0x1000, 0x2000, "/x"));
    assert!(!named(&it, 0x1000).0.is_jit_symfile());
}

#[test]
fn a_thread_has_the_name_of_its_process() {
    let threads = |it: Records| it.comm(5, 5, "app").sample(USER, 5, 6).sample(USER, 7, 8);
    let names =
        |it: &Session| [6, 8].map(|tid| String::from_utf8_lossy(it.thread(tid).unwrap().comm()).into_owned());
    let of = |records: &dyn Fn(Records) -> Records| names(&session(records));
    // The capture is known to be one of simpleperf by the record.
    assert_eq!(of(&|it| threads(it.dso(OF_ELF, 1, 0, "/x"))), ["app", ":8"]);
    assert_eq!(of(&|it| threads(it)), [":6", ":8"]);
}

#[test]
fn mappings_before_the_first_record() {
    let map =
        Records { big: false, out: Vec::new() }.map(5, 0x1000, 0x2000, "/x").comm(5, 5, "app").exit(5, 5);
    let it = with_features(&[(Feature::INIT_MAP, map.out)], |it| it);
    assert_eq!(crate::maps(&it, 5), ["1000-2000 0 /x"]);
    assert_eq!(it.thread(5).unwrap().comm(), b"app");
}

#[test]
fn kallsyms_of_a_record_and_of_its_pieces() {
    let of = |it: &Session| it.recorded_kallsyms().map(|text| String::from_utf8_lossy(text).into_owned());
    let whole = session(|it| it.kallsyms("10 T f\n"));
    assert_eq!(of(&whole).unwrap(), "10 T f\n");
    let split = |end: usize| {
        session(|it| {
            let record = Records { big: it.big, out: Vec::new() }.kallsyms("10 T f\n").out;
            let (first, rest) = record.split_at(8);
            let pieces = [first, &rest[..rest.len() - end]];
            let it = pieces.into_iter().fold(it, |it, piece| {
                let payload = it.bytes().raw(piece);
                it.record(SPLIT, 0, payload)
            });
            let payload = it.bytes();
            it.record(SPLIT_END, 0, payload)
        })
    };
    assert_eq!(of(&split(0)), of(&whole));
    assert_eq!(of(&split(8)), None, "a piece is missing");
}

/// A result without an error is none of them.
#[test]
fn stacks_that_were_not_unwound_whole() {
    let result = |it: Records, error: u64| {
        let payload = it.bytes().u64s(&[0, 0, error, 0, 0, 0]).u64s(&[0, 0, 0, 0]);
        it.record(32776, 0, payload)
    };
    assert_eq!(session(|it| result(result(result(it, 1), 0), 6)).failed_unwinds(), 2);
}

/// A file counts twice, for its path and its number, with 64 bytes; a symbol its name and 64 bytes.
#[test]
fn the_limit_of_symbols() {
    let of = |limit| {
        let mut limits = SessionLimits::default();
        limits.symbols = limit;
        let it = session_within(&limits, |it| {
            it.map(5, 0x1000, 0x2000, "/x").dso(OF_ELF, 1, 0, "/x").symbol(1, 0, 1, "f").symbol(1, 1, 1, "g")
        });
        let dso = named(&it, 0x1000).0.dso().clone();
        (it.recorded_file(&dso).map(perf_session::RecordedFile::len), it.dropped_symbols())
    };
    let (file, symbol) = (2 * 2 + 64, 1 + 64);
    assert_eq!(of(file + 2 * symbol), (Some(2), 0));
    assert_eq!(of(file + 2 * symbol - 1), (Some(1), 1));
    assert_eq!(of(file - 1), (None, 1), "symbols without a file are not counted");
}
