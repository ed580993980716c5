//! Errors of samples: each field that is missing, too large, or followed by bytes that do not belong to it.

use perf_parse::abi::attr::Attr;
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::endian::LittleEndian;
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::{Error, ErrorKind, RawRecord, Record, Sample, SampleLayout};

use crate::{error, residue, truncated};
use testdata::Bytes;

/// Returns the error for a sample of `fields` with the payload `words`.
fn sample(fields: SampleType, words: &[u64]) -> Error {
    let attr = Attr {
        sample_type: fields,
        branch_sample_type: BranchSampleType::HW_INDEX,
        sample_regs_user: 0b11,
        sample_regs_intr: 0b111,
        sample_stack_user: 64,
        ..Attr::default()
    };
    error(&attr, 9, 1, |bytes| bytes.u64s(words))
}

/// The offset that stands for a field that is not recorded is past the end even of the longest record.
#[test]
fn fields_that_are_not_recorded() {
    let attr = Attr { sample_type: SampleType::RAW, ..Attr::default() };
    let layout = SampleLayout::new(&attr).unwrap();
    let bytes = Bytes::new(false).u32(65_516).raw(&[0xa5; 65_516]).record(9, 0);
    assert_eq!(bytes.len(), 65_528);
    let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
    let sample = raw.sample(&layout).unwrap();
    let words = [sample.identifier(), sample.ip(), sample.time(), sample.addr(), sample.id()];
    assert_eq!(words, [None; 5]);
    assert_eq!((sample.stream_id(), sample.period(), sample.cpu()), (None, None, None));
    assert_eq!((sample.pid(), sample.tid()), (None, None));
    assert_eq!(sample.tail().unwrap().raw, Some(&[0xa5; 65_516][..]));
}

#[test]
fn leading_fields() {
    let order = [
        (SampleType::IDENTIFIER, "identifier"),
        (SampleType::IP, "ip"),
        (SampleType::TID, "tid"),
        (SampleType::TIME, "time"),
        (SampleType::ADDR, "addr"),
        (SampleType::ID, "id"),
        (SampleType::STREAM_ID, "stream_id"),
        (SampleType::CPU, "cpu"),
        (SampleType::PERIOD, "period"),
    ];
    let all = order.iter().fold(SampleType::NONE, |all, &(field, _)| all | field);
    for tail in [SampleType::NONE, SampleType::RAW] {
        for (index, (_, name)) in order.into_iter().enumerate() {
            for more in 0..8 {
                let attr = Attr { sample_type: all | tail, ..Attr::default() };
                let found = error(&attr, 9, 0, |bytes| bytes.raw(&[1; 72][..8 * index + more]));
                assert_eq!(found, truncated(name, 8, more as u64, 8 + 8 * index as u32));
            }
        }
    }
    // Fields that are not recorded do not count.
    assert_eq!(sample(SampleType::CPU | SampleType::IP, &[1]), truncated("cpu", 8, 0, 16));
    assert_eq!(sample(SampleType::CPU | SampleType::IP, &[1, 2, 3]), residue(8, 24));
    assert_eq!(sample(SampleType::NONE, &[1]), residue(8, 8));
}

#[test]
fn a_leading_field_is_good_whatever_follows() {
    let layout =
        SampleLayout::new(&Attr { sample_type: SampleType::IP | SampleType::RAW, ..Attr::default() });
    let layout = layout.unwrap();
    let bytes = Bytes::new(false).u64(7).u64(u64::MAX).record(9, 0);
    let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
    let Record::Sample(sample) = raw.decode(&layout).unwrap() else { panic!("{raw:?}") };
    assert_eq!(sample.ip(), Some(7));
    assert_eq!(sample.tail().unwrap_err(), truncated("raw.data", u64::from(u32::MAX), 4, 20));
    assert_eq!(sample.callchain(), Ok(None));
}

#[test]
fn read() {
    let read = |format, words: &[u64]| {
        let attr =
            Attr { sample_type: SampleType::IP | SampleType::READ, read_format: format, ..Attr::default() };
        error(&attr, 9, 0, |bytes| bytes.u64(1).u64s(words))
    };
    assert_eq!(read(ReadFormat::ID, &[1]), truncated("read", 16, 8, 16));
    assert_eq!(read(ReadFormat::ID, &[1, 2, 3]), residue(8, 32));
    let group = ReadFormat::GROUP | ReadFormat::TOTAL_TIME_RUNNING;
    assert_eq!(read(group, &[]), truncated("read.nr", 8, 0, 16));
    assert_eq!(read(group, &[1]), truncated("read.time_enabled", 8, 0, 24));
    assert_eq!(read(group, &[2, 1, 1]), truncated("read.values", 16, 8, 32));
}

#[test]
fn callchain() {
    let chain = |words: &[u64]| sample(SampleType::CALLCHAIN, words);
    assert_eq!(chain(&[]), truncated("callchain.nr", 8, 0, 8));
    assert_eq!(chain(&[3, 1, 2]), truncated("callchain", 24, 16, 16));
    assert_eq!(chain(&[1 << 61]), truncated("callchain", u64::MAX, 0, 16));
    assert_eq!(chain(&[1, 1, 2]), residue(8, 24));
    // `callchain` alone returns the same error, and does not find faults after the chain.
    let layout = SampleLayout::new(&Attr { sample_type: SampleType::CALLCHAIN, ..Attr::default() }).unwrap();
    let alone = |words: &[u64]| {
        let bytes = Bytes::new(false).u64s(words).record(9, 0);
        let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
        let chain = Sample::parse(&layout, &raw).unwrap().callchain();
        chain.map(|chain| chain.unwrap().words().len())
    };
    assert_eq!(alone(&[3, 1, 2]), Err(truncated("callchain", 24, 16, 16)));
    assert_eq!(alone(&[1, 1, 2]), Ok(1));
}

#[test]
fn raw() {
    let raw = |bytes: &[u8]| {
        let attr = Attr { sample_type: SampleType::RAW, ..Attr::default() };
        error(&attr, 9, 0, |record| record.u32(4).raw(bytes))
    };
    assert_eq!(raw(&[1, 2, 3]), truncated("raw.data", 4, 3, 12));
    assert_eq!(raw(&[1; 12]), residue(8, 16));
    assert_eq!(sample(SampleType::RAW, &[]), truncated("raw.size", 4, 0, 8));
}

#[test]
fn branch_stack() {
    let stack = |words: &[u64]| sample(SampleType::BRANCH_STACK, words);
    assert_eq!(stack(&[]), truncated("branch_stack.nr", 8, 0, 8));
    assert_eq!(stack(&[1]), truncated("branch_stack.hw_idx", 8, 0, 16));
    assert_eq!(stack(&[2, 0, 1, 2, 3]), truncated("branch_stack.entries", 48, 24, 24));
    assert_eq!(stack(&[u64::MAX, 0]), truncated("branch_stack.entries", u64::MAX, 0, 24));
    // If no other reading fits, the error is that of the usual reading.
    assert_eq!(stack(&[1, 0, 1, 2, 3, 4, 5]), residue(16, 48));
    assert_eq!(stack(&[0, 1, 2]), residue(8, 24));

    let attr = Attr {
        sample_type: SampleType::BRANCH_STACK | SampleType::CGROUP,
        branch_sample_type: BranchSampleType::COUNTERS,
        ..Attr::default()
    };
    let with_counters = |words: &[u64]| error(&attr, 9, 0, |bytes| bytes.u64s(words));
    assert_eq!(with_counters(&[2, 1, 2, 3, 4, 5, 6]), truncated("branch_stack.counters", 16, 0, 64));
    assert_eq!(with_counters(&[1, 1, 2, 3]), truncated("branch_stack.counters", 8, 0, 40));
}

#[test]
fn regs() {
    let user = |words: &[u64]| sample(SampleType::REGS_USER, words);
    assert_eq!(user(&[]), truncated("regs_user.abi", 8, 0, 8));
    assert_eq!(user(&[2, 1]), truncated("regs_user", 16, 8, 16));
    assert_eq!(user(&[2, 1, 2, 3]), residue(8, 32));
    assert_eq!(user(&[0, 1]), residue(8, 16));
    let intr = |words: &[u64]| sample(SampleType::REGS_INTR, words);
    assert_eq!(intr(&[]), truncated("regs_intr.abi", 8, 0, 8));
    assert_eq!(intr(&[1, 1]), truncated("regs_intr", 24, 8, 16));
    assert_eq!(intr(&[0, 1]), residue(8, 16));
}

#[test]
fn stack_user() {
    let stack = |words: &[u64]| sample(SampleType::STACK_USER, words);
    assert_eq!(stack(&[]), truncated("stack_user.size", 8, 0, 8));
    assert_eq!(stack(&[16, 1]), truncated("stack_user.data", 16, 8, 16));
    assert_eq!(stack(&[u64::MAX]), truncated("stack_user.data", u64::MAX, 0, 16));
    assert_eq!(stack(&[16, 1, 2]), truncated("stack_user.dyn_size", 8, 0, 32));
    assert_eq!(stack(&[16, 1, 2, 16, 0]), residue(8, 40));
    for dyn_size in [17, u64::MAX] {
        let kind = ErrorKind::OutOfRange { field: "stack_user.dyn_size", value: dyn_size, max: 16 };
        assert_eq!(stack(&[16, 1, 2, dyn_size]), Error { kind, offset: 32 });
    }
    // This is not a stray word, because the event asked for 64 bytes.
    assert_eq!(stack(&[0, 0]), residue(8, 16));
}

#[test]
fn words_behind_the_stack() {
    for (field, name) in [
        (SampleType::WEIGHT, "weight"),
        (SampleType::WEIGHT_STRUCT, "weight"),
        (SampleType::DATA_SRC, "data_src"),
        (SampleType::TRANSACTION, "transaction"),
        (SampleType::PHYS_ADDR, "phys_addr"),
        (SampleType::CGROUP, "cgroup"),
        (SampleType::DATA_PAGE_SIZE, "data_page_size"),
        (SampleType::CODE_PAGE_SIZE, "code_page_size"),
        (SampleType::AUX, "aux.size"),
    ] {
        assert_eq!(sample(field, &[]), truncated(name, 8, 0, 8));
        assert_eq!(
            sample(SampleType::IP | SampleType::STACK_USER | field, &[1, 0]),
            truncated(name, 8, 0, 24)
        );
        assert_eq!(sample(field, &[0, 1]), residue(8, 16));
    }
}

#[test]
fn words_behind_a_stack_of_no_bytes() {
    // A stray word is possible here, so one word may be missing, but not two.
    let attr = Attr {
        sample_type: SampleType::STACK_USER | SampleType::WEIGHT | SampleType::DATA_SRC | SampleType::CGROUP,
        ..Attr::default()
    };
    let behind = |words: &[u64]| error(&attr, 9, 2, |bytes| bytes.u64s(words));
    assert_eq!(behind(&[0, 0]), truncated("data_src", 8, 0, 24));
    assert_eq!(behind(&[0, 0, 1]), truncated("cgroup", 8, 0, 32));
    assert_eq!(behind(&[0, 1, 2]), truncated("cgroup", 8, 0, 32));
    assert_eq!(behind(&[0, 0, 1, 2, 3]), residue(8, 40));
}

#[test]
fn aux() {
    let aux = |words: &[u64]| sample(SampleType::AUX, words);
    assert_eq!(aux(&[16, 1]), truncated("aux.data", 16, 8, 16));
    assert_eq!(aux(&[8, 1, 2]), residue(8, 24));
    assert_eq!(aux(&[u64::MAX, 1, 2]), truncated("aux.data", u64::MAX, 16, 16));
}
