//! What is serialized: names and other bytes by the kind of format, and every record, feature section, event and account of
//! the captures with the numbers that the getters return.

mod captures;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::error::{FileError, FileErrorKind};
use perf_parse::feature::{BpfBtf, Cache, Entries, FeatureData, FeatureSection, GroupDesc};
use perf_parse::file::{Account, FaultCounts};
use perf_parse::list::List;
use perf_parse::record::{Cgroup, Comm, Record, TextPoke, UserRecord};
use perf_parse::sample::ChainFrame;
use perf_parse::tracepoint::{Format, Value};
use perf_parse::{ByteStr, RawRecord, SampleLayout};
use serde_json::{json, to_value};
use serde_test::{Configure, Token, assert_ser_tokens};
use testdata::Bytes;

const COMM: Comm<'_> = Comm { pid: 1, tid: -2, comm: b"sh" };

#[test]
fn a_name_is_a_string_if_it_is_utf_8() {
    assert_eq!(to_value(COMM).unwrap(), json!({"pid": 1, "tid": -2, "comm": "sh"}));
    assert_eq!(to_value(Cgroup { id: 3, path: "/ä".as_bytes() }).unwrap(), json!({"id": 3, "path": "/ä"}));
}

#[test]
fn a_name_that_is_not_utf_8_is_bytes() {
    let comm = Comm { comm: b"s\xff", ..COMM };
    assert_eq!(to_value(comm).unwrap(), json!({"pid": 1, "tid": -2, "comm": [b's', 255]}));
}

#[test]
fn a_name_is_bytes_in_a_format_that_is_not_human_readable() {
    let of = |comm| {
        [
            Token::Struct { name: "Comm", len: 3 },
            Token::Str("pid"),
            Token::I32(1),
            Token::Str("tid"),
            Token::I32(-2),
            Token::Str("comm"),
            comm,
            Token::StructEnd,
        ]
    };
    assert_ser_tokens(&COMM.compact(), &of(Token::Bytes(b"sh")));
    assert_ser_tokens(&COMM.readable(), &of(Token::Str("sh")));
}

#[test]
fn other_bytes_are_bytes_in_every_format() {
    let poke = TextPoke { addr: 1, old: b"ab", new: b"c" };
    assert_eq!(to_value(poke).unwrap(), json!({"addr": 1, "old": [b'a', b'b'], "new": [b'c']}));
    let tokens = [
        Token::Struct { name: "TextPoke", len: 3 },
        Token::Str("addr"),
        Token::U64(1),
        Token::Str("old"),
        Token::Bytes(b"ab"),
        Token::Str("new"),
        Token::Bytes(b"c"),
        Token::StructEnd,
    ];
    assert_ser_tokens(&poke.readable(), &tokens);
    assert_ser_tokens(&poke.compact(), &tokens);
}

#[test]
fn a_list_is_a_sequence_in_both_byte_orders() {
    let big = List::<u16>::new_in(Endianness::Big, &[1, 2, 3, 4]);
    assert_eq!(to_value(big).unwrap(), json!([0x102, 0x304]));
    let little = List::<u32, LittleEndian>::new_in((), &[1, 2, 0, 0]);
    assert_eq!(to_value(little).unwrap(), json!([0x201]));
    assert_ser_tokens(
        &big.compact(),
        &[Token::Seq { len: Some(2) }, Token::U16(0x102), Token::U16(0x304), Token::SeqEnd],
    );
}

#[test]
fn a_record_has_the_name_of_its_type() {
    let record = Record::<Endianness>::Comm(COMM);
    assert_eq!(to_value(record).unwrap(), json!({"COMM": {"pid": 1, "tid": -2, "comm": "sh"}}));
    assert_eq!(to_value(Record::<LittleEndian>::Switch).unwrap(), json!("SWITCH"));
    let user = Record::<LittleEndian>::User(UserRecord::Compressed(b"\0"), RecordType::COMPRESSED);
    assert_eq!(to_value(user).unwrap(), json!({"USER": {"COMPRESSED": [0]}}));
    let layout = SampleLayout::new(&Attr::default()).unwrap();
    let other = |kind: u32| {
        let bytes = Bytes::of::<BigEndian>().u8(7).record(kind, 5);
        let (raw, _) = RawRecord::<BigEndian>::parse(&bytes).unwrap();
        to_value(raw.decode(&layout).unwrap()).unwrap()
    };
    assert_eq!(other(40), json!({"OTHER": {"type": 40, "misc": 5, "payload": [7]}}));
    assert_eq!(other(1000), json!({"USER": {"OTHER": {"type": 1000, "misc": 5, "payload": [7]}}}));
}

/// Returns what a sample with these bytes after its `ip` is serialized to.
fn sample(sample_type: SampleType, rest: &[u8]) -> serde_json::Value {
    let attr =
        Attr { sample_type: sample_type.union(SampleType::IP), sample_regs_user: 1, ..Attr::default() };
    let layout = SampleLayout::new(&attr).unwrap();
    let bytes = Bytes::of::<LittleEndian>().u64(5).raw(rest).record(9, 0);
    let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
    to_value(raw.sample(&layout).unwrap()).unwrap()
}

#[test]
fn a_sample_has_the_fields_that_are_recorded() {
    assert_eq!(sample(SampleType::NONE, &[]), json!({"ip": 5}));
    let cpu = Bytes::of::<LittleEndian>().u32(3).u32(0);
    assert_eq!(sample(SampleType::CPU, &cpu.out), json!({"ip": 5, "cpu": 3}));
    let chain = Bytes::of::<LittleEndian>().u64s(&[2, 7, 8]);
    assert_eq!(sample(SampleType::CALLCHAIN, &chain.out), json!({"ip": 5, "tail": {"callchain": [7, 8]}}));
    // User registers of ABI 0 are ambiguous.
    let readings = json!({
        "hw_idx": "certain", "counters": "certain", "regs_user": "usual", "stack_user": "certain",
        "regs_intr": "certain",
    });
    let tail = json!({"regs_user": {"abi": 0, "mask": 1, "values": []}, "readings": readings});
    assert_eq!(sample(SampleType::REGS_USER, &[0; 8]), json!({"ip": 5, "tail": tail}));
}

#[test]
fn lengths_count_what_is_there() {
    let sample_type = SampleType::IP.union(SampleType::READ);
    let layout = SampleLayout::new(&Attr { sample_type, ..Attr::default() }).unwrap();
    let bytes = Bytes::of::<LittleEndian>().u64s(&[5, 6]).record(9, 0);
    let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
    let tokens = [
        Token::Struct { name: "Sample", len: 2 },
        Token::Str("ip"),
        Token::U64(5),
        Token::Str("tail"),
        Token::Struct { name: "Tail", len: 1 },
        Token::Str("read"),
        Token::Struct { name: "Read", len: 1 },
        Token::Str("values"),
        Token::Seq { len: Some(1) },
        Token::Struct { name: "ReadValue", len: 1 },
        Token::Str("value"),
        Token::U64(6),
        Token::StructEnd,
        Token::SeqEnd,
        Token::StructEnd,
        Token::StructEnd,
        Token::StructEnd,
    ];
    assert_ser_tokens(&raw.sample(&layout).unwrap().readable(), &tokens);
    let mut counts = FaultCounts::default();
    counts.add(&FileErrorKind::NotPerfData);
    let tokens = [Token::Map { len: Some(1) }, Token::Str("not_perf_data"), Token::U64(1), Token::MapEnd];
    assert_ser_tokens(&counts.readable(), &tokens);
}

#[test]
fn a_fault_takes_the_place_of_a_tail() {
    let fault =
        json!({"kind": {"truncated": {"field": "callchain", "needed": 8, "available": 0}}, "offset": 24});
    let chain = Bytes::of::<LittleEndian>().u64(1);
    assert_eq!(sample(SampleType::CALLCHAIN, &chain.out), json!({"ip": 5, "fault": fault}));
}

#[test]
fn what_is_not_recorded_is_left_out() {
    let frames = [ChainFrame::Ip { ip: 1, context: None }, ChainFrame::Deferred { cookie: Some(2) }];
    assert_eq!(to_value(frames).unwrap(), json!([{"ip": {"ip": 1}}, {"deferred": {"cookie": 2}}]));
}

#[test]
fn a_section_has_the_name_of_its_feature() {
    let hostname = FeatureData::Hostname(ByteStr::new(b"h"));
    assert_eq!(to_value(hostname).unwrap(), json!({"HOSTNAME": "h"}));
    let latin = FeatureData::Hostname(ByteStr::new(b"\xe4"));
    assert_eq!(to_value(latin).unwrap(), json!({"HOSTNAME": [0xe4]}));
    assert_eq!(to_value(FeatureData::TotalMem(7)).unwrap(), json!({"TOTAL_MEM": 7}));
    assert_eq!(to_value(FeatureData::Stat).unwrap(), json!("STAT"));
    assert_eq!(to_value(FeatureData::TracingData(b"\x17")).unwrap(), json!({"TRACING_DATA": [0x17]}));
    let other = FeatureSection::new(Feature(99), 0, b"\x01", Endianness::Little);
    assert_eq!(to_value(other.decode().unwrap()).unwrap(), json!({"OTHER": {"feature": 99, "bytes": [1]}}));
    let groups = [GroupDesc { name: ByteStr::new(b"g"), leader_idx: 1, nr_members: 2 }];
    let tokens = [
        Token::NewtypeVariant { name: "FeatureData", variant: "GROUP_DESC" },
        Token::Seq { len: Some(1) },
        Token::Map { len: Some(3) },
        Token::Str("name"),
        Token::Bytes(b"g"),
        Token::Str("leader_idx"),
        Token::U64(1),
        Token::Str("nr_members"),
        Token::U64(2),
        Token::MapEnd,
        Token::SeqEnd,
    ];
    assert_ser_tokens(&FeatureData::GroupDesc(Entries::from(&groups)).compact(), &tokens);
}

#[test]
fn an_entry_of_a_section_has_the_names_of_perf() {
    let cache = Cache {
        level: 1,
        line_size: 64,
        sets: 2,
        ways: 3,
        kind: ByteStr::new(b"Data"),
        size: ByteStr::new(b"4K"),
        map: ByteStr::new(b"0"),
    };
    let json = json!({
        "level": 1, "line_size": 64, "sets": 2, "ways": 3, "type": "Data", "size": "4K", "map": "0",
    });
    assert_eq!(to_value(cache).unwrap(), json);
    assert_eq!(to_value(Entries::from(&[cache])).unwrap(), json!([json]));
    assert_eq!(to_value(BpfBtf { id: 1, bytes: b"\x9f" }).unwrap(), json!({"id": 1, "data": [0x9f]}));
}

#[test]
fn a_value_of_a_tracepoint_is_itself() {
    let text = b"name: exit\nID: 7\nformat:\n\
        \tfield:int pid;\toffset:0;\tsize:4;\tsigned:1;\n\n\
        \tfield:char comm[4];\toffset:4;\tsize:4;\tsigned:0;\n\
        \tfield:u16 many[2];\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:bool is;\toffset:12;\tsize:1;\tsigned:0;\n\
        \tfield:struct s bytes;\toffset:13;\tsize:2;\tsigned:0;\n\n\
        print fmt: \"\"\n";
    let format = Format::parse(b"task", text, 8).unwrap();
    let values = |raw| {
        let fields = format.fields(raw, Endianness::Little);
        to_value(fields.map(|(_, value)| value.unwrap()).collect::<Vec<Value<'_>>>()).unwrap()
    };
    assert_eq!(
        values(b"\xff\xff\xff\xffsh\0\0\x01\0\x02\0\x01ab"),
        json!([-1, "sh", [1, 2], true, [97, 98]])
    );
    assert_eq!(values(b"\0\0\0\0\xff\0\0\0\0\0\0\0\0ab"), json!([0, [255], [0, 0], false, [97, 98]]));
}

#[test]
fn an_account_has_its_counts() {
    let mut account = Account::default();
    (account.records, account.lost) = (3, 2);
    account.note(FileError { offset: 8, kind: FileErrorKind::Skipped { bytes: 16 } });
    let json = json!({
        "records": 3, "bytes": 0, "bytes_skipped": 0, "lost": 2, "lost_samples": 0, "late": 0,
        "mmap2_guesses": {"current": 0, "old": 0}, "announced": 0, "unfinished": false,
        "diagnostics": [{"offset": 8, "kind": {"skipped": {"bytes": 16}}}], "diagnostics_omitted": 0,
        "faults_by_kind": {"skipped": 1}, "by_type": {},
    });
    assert_eq!(to_value(account).unwrap(), json);
}
