//! Records of Android's simpleperf.

use perf_parse::SampleLayout;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::record::{Misc, SimpleperfChainType, SimpleperfUnwindError};
use perf_parse::abi::regs::RegsAbi;
use perf_parse::list::List;
use perf_parse::record::user::{
    EventIdEntry, SimpleperfCallchain, SimpleperfDebug, SimpleperfDso, SimpleperfSymbol,
};
use perf_parse::record::{Records, SplitJoiner};
use perf_parse::write::{self, RecordEncoder, SampleIdFields, WriteError};

use super::*;

both! {
    kernel_symbol dso_and_symbol event_id callchain unwinding_result unwinding_result_of_older_versions tracing_data debug
    pieces a_long_record joined broken_pieces written refused
}

fn kernel_symbol<O: Endian>() {
    let text = b"ffffff8008080000 T _text\n";
    let bytes = record::<O>(RecordType::KERNEL_SYMBOL, 0, &[B32(25), Bytes(text), Pad(7)]);
    let it = expect!(&bytes, O, KernelSymbol);
    assert_eq!((it.kallsyms, it.rest), (&text[..], &[0; 7][..]));
    let expected = [(8, "Truncated kallsyms_size@8"), (12, "Truncated kallsyms@12"), (37, "ok")];
    assert_cut::<O>(&bytes, &expected);
}

fn dso_and_symbol<O: Endian>() {
    let bytes =
        record::<O>(RecordType::DSO, 0, &[B64(2), B64(7), B64(0x1000), Bytes(b"/lib/a.so\0"), Pad(6)]);
    let it = expect!(&bytes, O, Dso);
    assert_eq!((it.dso_type, it.dso_id, it.min_vaddr, it.dso_name), (2, 7, 0x1000, &b"/lib/a.so"[..]));
    let expected = [(8, "Truncated dso_type@8"), (32, "Unterminated dso_name@32"), (42, "ok")];
    assert_cut::<O>(&bytes, &expected);

    let bytes = record::<O>(RecordType::SYMBOL, 0, &[B64(0x1010), B64(16), B64(7), Bytes(b"main\0"), Pad(3)]);
    let it = expect!(&bytes, O, Symbol);
    assert_eq!((it.addr, it.len, it.dso_id, it.name), (0x1010, 16, 7, &b"main"[..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated addr@8"), (32, "Unterminated name@32"), (37, "ok")]);
}

fn event_id<O: Endian>() {
    let bytes = record::<O>(RecordType::EVENT_ID, 0, &[B64(2), B64(0), B64(70), B64(1), B64(71), B64(0xaa)]);
    let it = expect!(&bytes, O, EventId);
    let entry = |attr_id, event_id| EventIdEntry { attr_id, event_id };
    assert!(it.entries.iter().eq([entry(0, 70), entry(1, 71)]));
    assert_eq!(it.rest.len(), 8);
    assert_cut::<O>(&bytes, &[(8, "Truncated count@8"), (16, "Truncated data@16"), (48, "ok")]);
    let hostile = record::<O>(RecordType::EVENT_ID, 0, &[B64(u64::MAX), B64(0), B64(70)]);
    let kind = ErrorKind::Truncated { field: "data", needed: u64::MAX, available: 16 };
    assert_eq!(decode::<O>(&hostile).unwrap_err(), Error { kind, offset: 16 });
}

fn callchain<O: Endian>() {
    let fields = [
        B32(11), // pid
        B32(12), // tid
        B64(3),  // chain_type: JOINED_REMOTE
        B64(99), // time
        B64(2),  // ip_nr
        B64(0x1000),
        B64(0x2000), // ips
        B64(0x7f00),
        B64(0x7f10), // sps
    ];
    let bytes = record::<O>(RecordType::CALLCHAIN, 0, &fields);
    let it = expect!(&bytes, O, Callchain);
    assert_eq!((it.pid, it.tid, it.chain_type, it.time), (11, 12, SimpleperfChainType::JOINED_REMOTE, 99));
    assert!(it.ips.iter().eq([0x1000, 0x2000]) && it.sps.iter().eq([0x7f00, 0x7f10]) && it.rest.is_empty());
    let expected = [(8, "Truncated pid@8"), (40, "Truncated ips@40"), (56, "Truncated sps@56"), (72, "ok")];
    assert_cut::<O>(&bytes, &expected);
}

/// The fields before the call chain of UNWINDING_RESULT.
const UNWOUND: [Field<'static>; 13] = [
    B64(99),          // time
    B64(1_000),       // used_time
    B64(2),           // error_code: UNWIND_INFO
    B64(0xdead),      // error_addr
    B64(0x7f00),      // stack_start
    B64(0x7f08),      // stack_end
    B64(2),           // abi: 64 bits
    B64(0x8000_0001), // reg_mask
    B64(21),          // regs
    B64(22),
    B64(8), // size of the stack
    Bytes(b"on stack"),
    B64(6), // dyn_size
];

fn unwinding_result<O: Endian>() {
    let chain = [B64(1), B64(0x1000), B64(0x7f00), Pad(2)];
    let fields: Vec<_> = UNWOUND.into_iter().chain(chain).collect();
    let bytes = record::<O>(RecordType::UNWINDING_RESULT, 0, &fields);
    let it = expect!(&bytes, O, UnwindingResult);
    assert_eq!((it.time, it.used_time, it.error_code), (99, 1_000, SimpleperfUnwindError::UNWIND_INFO));
    assert_eq!((it.error_addr, it.stack_start, it.stack_end), (0xdead, 0x7f00, 0x7f08));
    let state = it.state();
    assert_eq!((state.regs_abi, state.regs_mask), (RegsAbi::ABI_64, 0x8000_0001));
    assert!(state.regs.iter().eq([21, 22]));
    assert_eq!((state.stack, state.dyn_size, state.rest), (&b"on stack"[..], Some(6), &[0; 2][..]));
    let (ips, sps) = state.chain.unwrap();
    assert!(ips.iter().eq([0x1000]) && sps.iter().eq([0x7f00]));
    let expected = [
        (8, "Truncated time@8"),
        (56, "Truncated regs_user@56"),
        (72, "Truncated regs@72"),
        (88, "Truncated stack_user.size@88"),
        (96, "Truncated stack_user.data@96"),
        (104, "Truncated stack_user.dyn_size@104"),
        (112, "ok"),
        (113, "Truncated callchain.length@112"),
        (120, "Truncated callchain.ips@120"),
        (128, "Truncated callchain.sps@128"),
        (136, "ok"),
    ];
    assert_cut::<O>(&bytes, &expected);
}

/// Without a call chain, and without a stack, which then has no number of copied bytes.
fn unwinding_result_of_older_versions<O: Endian>() {
    let fields: Vec<_> = UNWOUND.into_iter().take(6).chain([B64(0), B64(0), B64(0)]).collect();
    let bytes = record::<O>(RecordType::UNWINDING_RESULT, 0, &fields);
    let state = expect!(&bytes, O, UnwindingResult).state();
    assert_eq!((state.regs_abi, state.regs.len(), state.stack), (RegsAbi::NONE, 0, &[][..]));
    assert!(state.dyn_size.is_none() && state.chain.is_none() && state.rest.is_empty());
}

fn tracing_data<O: Endian>() {
    let bytes = record::<O>(RecordType::TRACING_DATA, 0, &[B32(3), Bytes(b"abc"), Pad(61)]);
    let it = expect!(&bytes, O, TracingData);
    assert_eq!((it.data, it.rest), (&b"abc"[..], &[0; 61][..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated data_size@8"), (12, "Truncated data@12"), (15, "ok")]);
}

fn debug<O: Endian>() {
    let bytes = record::<O>(RecordType::DEBUG, 0, &[B64(5), Bytes(b"hello\0"), Pad(2)]);
    let it = expect!(&bytes, O, Debug);
    assert_eq!((it.time, it.message), (5, &b"hello"[..]));
    assert_cut::<O>(&bytes, &[(8, "Truncated time@8"), (16, "Unterminated s@16"), (22, "ok")]);
}

fn pieces<O: Endian>() {
    let bytes = record::<O>(RecordType::SPLIT, 0, &[Bytes(b"any bytes")]);
    assert_eq!(*expect!(&bytes, O, Split), *b"any bytes");
    assert_cut::<O>(&bytes, &[(8, "ok")]);
    let end = record::<O>(RecordType::SPLIT_END, 0, &[]);
    assert!(matches!(decode::<O>(&end), Ok(UserRecord::SplitEnd)));
    let longer = record::<O>(RecordType::SPLIT_END, 0, &[B8(1)]);
    assert_cut::<O>(&longer, &[(8, "ok"), (9, "Residue @8")]);
}

/// A TRACING_DATA record with `len` bytes of data.
fn long<O: Endian>(len: usize) -> Vec<u8> {
    let payload = testdata::Bytes::of::<O>().u32(len as u32).raw(&vec![0x5a; len]);
    let size = 8 + payload.len() as u32;
    let header = testdata::Bytes::of::<O>().u32(RecordType::TRACING_DATA.0);
    header.u16((size >> 16) as u16).u16(size as u16).raw(&payload.out).out
}

/// The size of simpleperf's records has 32 bits.
fn a_long_record<O: Endian>() {
    for len in [0xffec, 0xfff4, 0x1_0000, 0x2_0001] {
        let bytes = long::<O>(len);
        let it = expect!(&bytes, O, TracingData);
        assert_eq!(it.data.len(), len);
        let (raw, rest) = RawRecord::<O>::parse(&bytes).unwrap();
        assert_eq!((raw.size() as usize, raw.as_bytes(), rest.len()), (len + 12, &bytes[..], 0));
        let mut written = Vec::new();
        raw.write(&mut written);
        assert_eq!(written, bytes);
        assert_eq!(rewritten::<O>(&bytes), bytes);
        let cut = RawRecord::<O>::parse(&bytes[..bytes.len() - 1]).unwrap_err();
        let needed = len as u64 + 4;
        let kind = ErrorKind::Truncated { field: "payload", needed, available: needed - 1 };
        assert_eq!(cut, Error { kind, offset: 8 });
    }
    // Types above those of simpleperf have the kernel's header, with any bits.
    for kind in [65_536, 98_304, 1 << 23, u32::MAX] {
        let other = testdata::Bytes::of::<O>().u32(kind).u16(1).u16(8).out;
        assert_eq!(RawRecord::<O>::parse(&other).unwrap().0.size(), 8, "{kind}");
    }
    // A size below that of the header.
    let header = testdata::Bytes::of::<O>().u32(RecordType::DEBUG.0).u16(0).u16(7).out;
    let short = RawRecord::<O>::parse(&header).unwrap_err();
    assert_eq!(short, Error { kind: ErrorKind::RecordSize { size: 7 }, offset: 6 });
}

/// Decodes a record, writes its fields, and returns the bytes.
fn rewritten<O: Endian>(bytes: &[u8]) -> Vec<u8> {
    let (raw, _) = RawRecord::<O>::parse(bytes).unwrap();
    let layout = SampleLayout::new(&Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() }).unwrap();
    let encoder = RecordEncoder::new_in(O::ENDIANNESS, &layout);
    let mut out = vec![1, 2, 3];
    let decoded = raw.untyped().decode_user().unwrap();
    encoder.record(&mut out, raw.misc(), &decoded, &SampleIdFields::default()).unwrap();
    out.split_off(3)
}

/// Records of every type, as simpleperf writes them.
fn written<O: Endian>() {
    let unwound: Vec<_> = UNWOUND.into_iter().chain([B64(1), B64(0x1000), B64(0x7f00)]).collect();
    let older: Vec<_> = UNWOUND.into_iter().take(6).chain([B64(0), B64(0), B64(0)]).collect();
    let records: [(RecordType, &[Field<'_>]); 13] = [
        (RecordType::KERNEL_SYMBOL, &[B32(5), Bytes(b"0 T a"), Pad(7)]),
        (RecordType::DSO, &[B64(2), B64(7), B64(0x1000), Bytes(b"/lib/a.so"), Pad(7)]),
        (RecordType::SYMBOL, &[B64(0x1010), B64(16), B64(7), Bytes(b"sevenn7"), Pad(1)]),
        (RecordType::SYMBOL, &[B64(0x1010), B64(16), B64(7), Bytes(b"of eight"), Pad(8)]),
        (RecordType::SPLIT, &[Bytes(b"any")]),
        (RecordType::SPLIT_END, &[]),
        (RecordType::EVENT_ID, &[B64(2), B64(0), B64(70), B64(1), B64(71), B64(0xaa)]),
        (
            RecordType::CALLCHAIN,
            &[B32(1), B32(2), B64(3), B64(99), B64(2), B64(4), B64(5), B64(6), B64(7), B8(9)],
        ),
        (RecordType::UNWINDING_RESULT, &unwound),
        (RecordType::UNWINDING_RESULT, &older),
        (RecordType::TRACING_DATA, &[B32(3), Bytes(b"abc"), Pad(61)]),
        (RecordType::DEBUG, &[B64(5), Bytes(b"hello"), Pad(3)]),
        // A type of a newer simpleperf.
        (RecordType(32_779), &[B64(5)]),
    ];
    for (kind, fields) in records {
        let bytes = record::<O>(kind, 0, fields);
        assert_eq!(rewritten::<O>(&bytes), bytes, "{kind}");
    }
    // Padding that simpleperf does not write.
    let debug = |padding| record::<O>(RecordType::DEBUG, 0, &[B64(5), Bytes(b"hello\0"), Bytes(padding)]);
    assert_eq!(rewritten::<O>(&debug(b"abc")), debug(&[0; 2]));
}

/// The errors of records that cannot be written. What is written before them does not change.
fn refused<O: Endian>() {
    let layout = SampleLayout::new(&Attr::default()).unwrap();
    let refuse = |kind, record| {
        let mut out = vec![1, 2, 3];
        let id = SampleIdFields::default();
        let error = write::record::<O>(&mut out, &layout, Misc(0), &Record::User(record, kind), &id);
        assert_eq!(out, [1, 2, 3]);
        match error.unwrap_err() {
            WriteError::Invalid { field, .. } => field,
            other => panic!("{other}"),
        }
    };
    let nul = b"a\0b";
    let dso = SimpleperfDso { dso_type: 2, dso_id: 7, min_vaddr: 0, dso_name: nul };
    assert_eq!(refuse(RecordType::DSO, UserRecord::Dso(dso)), "dso_name");
    let symbol = SimpleperfSymbol { addr: 1, len: 2, dso_id: 7, name: nul };
    assert_eq!(refuse(RecordType::SYMBOL, UserRecord::Symbol(symbol)), "name");
    let debug = SimpleperfDebug { time: 1, message: nul };
    assert_eq!(refuse(RecordType::DEBUG, UserRecord::Debug(debug)), "s");
    // Not the type of the record, and a type of the perf tool.
    assert_eq!(refuse(RecordType::SPLIT, UserRecord::SplitEnd), "type");
    assert_eq!(refuse(RecordType::FINISHED_ROUND, UserRecord::FinishedRound), "type");
    let bytes = record::<O>(RecordType(32_779), 0, &[B64(5)]);
    let (raw, _) = RawRecord::<O>::parse(&bytes).unwrap();
    assert_eq!(refuse(RecordType(32_780), UserRecord::Other(raw.untyped())), "type");
    let other = if O::ENDIANNESS == Endianness::Big { Endianness::Little } else { Endianness::Big };
    let header = testdata::Bytes::new(other == Endianness::Big).u32(32_779).u16(0).u16(8).out;
    let (raw, _) = RawRecord::parse_in(other, &header).unwrap();
    assert_eq!(refuse(RecordType(32_779), UserRecord::Other(raw)), "record");
    let words = [1_u64, 2].map(u64::to_ne_bytes);
    let of = |count: usize| List::new_in(Endianness::NATIVE, &words.as_flattened()[..8 * count]);
    let (pid, tid, chain_type, time) = (1, 1, SimpleperfChainType::JOINED_OFFLINE, 5);
    let chain = SimpleperfCallchain { pid, tid, chain_type, time, ips: of(2), sps: of(1), rest: &[] };
    assert_eq!(refuse(RecordType::CALLCHAIN, UserRecord::Callchain(chain)), "sps");
}

/// A long record is split, and its pieces make the record again.
#[test]
fn split_records() {
    fn of<O: Endian>() {
        for (len, pieces) in [(10, 1), (65_523, 1), (65_524, 3), (131_042, 3), (131_043, 4)] {
            let whole = long::<O>(len);
            let (raw, _) = RawRecord::<O>::parse(&whole).unwrap();
            let mut bytes = Vec::new();
            raw.write_split(&mut bytes);
            let records: Vec<_> = Records::<O>::new(&bytes).map(Result::unwrap).collect();
            assert_eq!(records.len(), pieces, "{len}");
            assert!(records.iter().all(|record| record.size() <= 65_535));
            if pieces > 1 {
                let records: Vec<_> = records.iter().map(|record| record.as_bytes().to_vec()).collect();
                let joined = join::<O>(&mut SplitJoiner::new(), &records).pop().unwrap();
                assert_eq!(joined, Ok(Some(whole)));
            } else {
                assert_eq!(bytes, whole);
            }
        }
    }
    of::<LittleEndian>();
    of::<BigEndian>();
}

/// Passes records to a joiner; returns what it returns.
fn join<O: Endian>(joiner: &mut SplitJoiner, records: &[Vec<u8>]) -> Vec<Result<Option<Vec<u8>>, Error>> {
    let push = |bytes: &Vec<u8>| {
        let (raw, _) = RawRecord::<O>::parse(bytes).unwrap();
        joiner.push(&raw.untyped()).map(|joined| joined.map(|joined| joined.as_bytes().to_vec()))
    };
    records.iter().map(push).collect()
}

fn split<O: Endian>(bytes: &[u8]) -> Vec<u8> {
    record::<O>(RecordType::SPLIT, 0, &[Bytes(bytes)])
}

fn joined<O: Endian>() {
    let (end, other) =
        (record::<O>(RecordType::SPLIT_END, 0, &[]), record::<O>(RecordType::FINISHED_ROUND, 0, &[]));
    let (whole, mut joiner) = (long::<O>(100_000), SplitJoiner::new());
    // The header may be in several pieces. Other records between the pieces change nothing.
    for at in [3, 8, 65_527] {
        let (first, rest) = whole.split_at(at);
        let (second, third) = rest.split_at(rest.len() / 2);
        let records = [split::<O>(first), other.clone(), split::<O>(second), split::<O>(third), end.clone()];
        let all = join::<O>(&mut joiner, &records);
        assert_eq!(all, [Ok(None), Ok(None), Ok(None), Ok(None), Ok(Some(whole.clone()))]);
    }
    // An end without pieces.
    assert_eq!(join::<O>(&mut joiner, &[end]), [Ok(None)]);
}

fn broken_pieces<O: Endian>() {
    let end = record::<O>(RecordType::SPLIT_END, 0, &[]);
    let whole = record::<O>(RecordType::DEBUG, 0, &[B64(5), Bytes(b"hello\0"), Pad(2)]);
    let mut joiner = SplitJoiner::new();
    let mut fails = |pieces: &[&[u8]], kind, offset| {
        let mut records: Vec<_> = pieces.iter().map(|piece| split::<O>(piece)).collect();
        records.push(end.clone());
        let all = join::<O>(&mut joiner, &records);
        let errors: Vec<_> = all.into_iter().filter(|it| *it != Ok(None)).collect();
        assert_eq!(errors, [Err(Error { kind, offset })]);
        // The next record is joined.
        let good = join::<O>(&mut joiner, &[split::<O>(&whole[..9]), split::<O>(&whole[9..]), end.clone()]);
        assert_eq!(good, [Ok(None), Ok(None), Ok(Some(whole.clone()))]);
    };
    let truncated = |field, needed, available| ErrorKind::Truncated { field, needed, available };
    fails(&[&whole[..7]], truncated("header", 8, 7), 0);
    fails(&[&whole[..20]], truncated("payload", 16, 12), 8);
    fails(&[&whole, b"more", b"and more"], ErrorKind::Residue { bytes: 4 }, 24);
    let header = testdata::Bytes::of::<O>().u32(RecordType::DEBUG.0).u16(0).u16(7).out;
    fails(&[&header[..4], &header[4..7]], truncated("header", 8, 7), 0);
}
