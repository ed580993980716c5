//! Records of Android's simpleperf.

use perf_parse::abi::record::{SimpleperfChainType, SimpleperfUnwindError};
use perf_parse::abi::regs::RegsAbi;
use perf_parse::record::SplitJoiner;
use perf_parse::record::user::EventIdEntry;

use super::*;

both! {
    kernel_symbol dso_and_symbol event_id callchain unwinding_result unwinding_result_of_older_versions tracing_data debug
    pieces a_long_record joined broken_pieces
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
        let cut = RawRecord::<O>::parse(&bytes[..bytes.len() - 1]).unwrap_err();
        let needed = len as u64 + 4;
        let kind = ErrorKind::Truncated { field: "payload", needed, available: needed - 1 };
        assert_eq!(cut, Error { kind, offset: 8 });
    }
    // Types above those of simpleperf have the kernel's header.
    let other = testdata::Bytes::of::<O>().u32(65_536).u16(1).u16(8).out;
    assert_eq!(RawRecord::<O>::parse(&other).unwrap().0.size(), 8);
    // A size below that of the header.
    let header = testdata::Bytes::of::<O>().u32(RecordType::DEBUG.0).u16(0).u16(7).out;
    let short = RawRecord::<O>::parse(&header).unwrap_err();
    assert_eq!(short, Error { kind: ErrorKind::RecordSize { size: 7 }, offset: 6 });
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
