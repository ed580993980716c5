//! Decoding allocates nothing: for a million samples, and for a walk over as many records.

use core::hint::black_box;

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::callchain::CallchainContext;
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::record::Misc;
use perf_parse::abi::regs::RegsAbi;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::record::{Comm, Mmap};
use perf_parse::sample::ReadValue;
use perf_parse::write::{
    self, BranchFields, BranchStackFields, ReadFields, RegsFields, SampleFields, SampleIdFields,
    StackUserFields,
};
use perf_parse::{Record, Records, Sample, SampleBatch, SampleLayout};
use testdata::memory::{Counting, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations of `f` and its result.
fn allocations<T>(f: impl FnOnce() -> T) -> (usize, T) {
    let (value, used) = measure(f);
    (used.calls, value)
}

/// Reads every field of a sample and combines all of them to one number.
fn every_field<O: Endian>(sample: &Sample<'_, O>) -> u64 {
    let words = [
        sample.identifier(),
        sample.ip(),
        sample.pid().map(|pid| pid as u64),
        sample.tid().map(|tid| tid as u64),
        sample.time(),
        sample.addr(),
        sample.id(),
        sample.stream_id(),
        sample.cpu().map(u64::from),
        sample.period(),
    ];
    let mut sum = words.into_iter().flatten().fold(0, u64::wrapping_add);
    let mut add = |word: u64| sum = sum.wrapping_add(word);
    if let Some(chain) = sample.callchain().unwrap() {
        assert!(black_box(chain.frames().count()) <= chain.words().len());
    }
    let tail = sample.tail().unwrap();
    if let Some(read) = tail.read {
        add(read.time_enabled().unwrap_or(0) + read.time_running().unwrap_or(0));
        read.values().for_each(|value| add(value.value + value.id.unwrap_or(0) + value.lost.unwrap_or(0)));
    }
    tail.callchain.iter().flat_map(|chain| chain.words()).for_each(&mut add);
    tail.raw.iter().for_each(|raw| add(raw.len() as u64));
    if let Some(stack) = tail.branch_stack {
        stack.entries.iter().for_each(|entry| add(entry.from + u64::from(entry.flags.cycles())));
        stack.counters.iter().flat_map(|words| words.iter()).for_each(&mut add);
    }
    for regs in [tail.regs_user, tail.regs_intr].iter().flatten() {
        regs.iter().for_each(|(bit, value)| add(u64::from(bit) + value));
        add(regs.get(0).unwrap_or(0));
    }
    tail.stack_user.iter().for_each(|stack| add(stack.copied().len() as u64));
    tail.aux.iter().for_each(|aux| add(aux.len() as u64));
    assert_eq!(black_box(tail.readings.iter().count()), 5);
    sum
}

/// Layouts with samples of each, 1000 in total: only leading fields, call chains, all fields.
fn samples<O: Endian>() -> Vec<(SampleLayout, Vec<u8>)> {
    let head = SampleFields {
        ip: Some(0x40_1000),
        pid_tid: Some((1, 2)),
        time: Some(3),
        cpu: Some(4),
        period: Some(5),
        ..SampleFields::default()
    };
    let head_type =
        SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
    let chain = vec![
        CallchainContext::KERNEL.0,
        1,
        2,
        CallchainContext::USER.0,
        3,
        CallchainContext::USER_DEFERRED.0,
        9,
    ];
    let with_chain = SampleFields { callchain: Some(chain), raw: Some(vec![0; 12]), ..head.clone() };
    let all = SampleFields {
        read: Some(ReadFields {
            time_enabled: Some(1),
            time_running: Some(2),
            values: vec![ReadValue { value: 3, id: Some(4), lost: Some(5) }; 3],
        }),
        branch_stack: Some(BranchStackFields {
            hw_idx: Some(1),
            entries: vec![BranchFields { from: 1, to: 2, ..BranchFields::default() }; 4],
            counters: Some(vec![1; 4]),
        }),
        regs_user: Some(RegsFields { abi: RegsAbi::ABI_64, values: vec![7; 3] }),
        stack_user: Some(StackUserFields { data: vec![0; 32], dyn_size: Some(16) }),
        weight: Some(1),
        data_src: Some(2.into()),
        transaction: Some(3.into()),
        regs_intr: Some(RegsFields { abi: RegsAbi::ABI_64, values: vec![8; 2] }),
        aux: Some(vec![0; 16]),
        ..with_chain.clone()
    };
    let tail_type = SampleType::READ
        | SampleType::BRANCH_STACK
        | SampleType::REGS_USER
        | SampleType::STACK_USER
        | SampleType::WEIGHT
        | SampleType::DATA_SRC
        | SampleType::TRANSACTION
        | SampleType::REGS_INTR
        | SampleType::AUX;
    let chain_type = head_type | SampleType::CALLCHAIN | SampleType::RAW;
    // An unusual reading: the branch stack is empty and its index is absent.
    let empty = SampleFields { branch_stack: Some(BranchStackFields::default()), ..head.clone() };

    [
        (850, head_type, head),
        (50, chain_type, with_chain),
        (50, chain_type | tail_type, all),
        (50, head_type | SampleType::BRANCH_STACK, empty),
    ]
    .into_iter()
    .map(|(count, sample_type, fields)| {
        let attr = Attr {
            sample_type,
            read_format: ReadFormat::KNOWN,
            branch_sample_type: BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS,
            sample_regs_user: 0b111,
            sample_regs_intr: 0b101,
            sample_stack_user: 32,
            ..Attr::default()
        };
        let layout = SampleLayout::new(&attr).unwrap();
        let mut out = Vec::new();
        for _ in 0..count {
            write::sample::<O>(&mut out, &layout, Misc(2), &fields).unwrap();
        }
        (layout, out)
    })
    .collect()
}

/// Decodes samples of every layout, `rounds` times 1000.
fn decode_samples<O: Endian>(rounds: usize) -> (usize, u64) {
    let samples = samples::<O>();
    allocations(|| {
        let mut decoded = 0;
        for _ in 0..rounds {
            for (layout, bytes) in &samples {
                for raw in Records::<O>::new(bytes) {
                    let Record::Sample(sample) = raw.unwrap().decode(layout).unwrap() else { panic!() };
                    black_box(every_field(&sample));
                    decoded += 1;
                }
                // This walks over a sample up to 32 times. One sample for each layout and round is enough.
                let raw = Records::<O>::new(bytes).next().unwrap().unwrap();
                assert_eq!(Sample::parse(layout, &raw).unwrap().possible_readings(), 1);
            }
        }
        decoded
    })
}

#[test]
fn a_million_samples() {
    assert_eq!(decode_samples::<LittleEndian>(500), (0, 500_000));
    assert_eq!(decode_samples::<BigEndian>(500), (0, 500_000));
}

#[test]
fn half_a_million_samples_in_batches() {
    let samples = samples::<LittleEndian>();
    let decoded = allocations(|| {
        let (mut decoded, mut batch) = (0, SampleBatch::<256>::new(SampleType::KNOWN));
        for _ in 0..500 {
            for (layout, bytes) in &samples {
                let mut records = Records::<LittleEndian>::new(bytes);
                while !records.next_batch(layout, &mut batch).is_empty() {
                    decoded += black_box(&batch).len();
                }
                assert!(records.rest().is_empty());
            }
        }
        decoded
    });
    assert_eq!(decoded, (0, 500_000));
}

#[test]
fn a_million_records() {
    let sample_type = SampleType::TIME | SampleType::CPU;
    let attr = Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    let layout = SampleLayout::new(&attr).unwrap();
    let id = SampleIdFields { time: 1, cpu: 2, ..SampleIdFields::default() };
    let mmap = Record::Mmap(Mmap { pid: 1, tid: 2, addr: 3, len: 4, pgoff: 5, filename: b"/bin/true" });
    let records = [Record::<BigEndian>::Comm(Comm { pid: 1, tid: 2, comm: b"true" }), mmap, Record::Switch];
    let mut bytes = Vec::new();
    for record in records.iter().cycle().take(1000) {
        write::record(&mut bytes, &layout, Misc(0), record, &id).unwrap();
    }
    let walked = allocations(|| {
        let mut walked = 0;
        for _ in 0..1000 {
            for raw in Records::<BigEndian>::new(&bytes) {
                let raw = raw.unwrap();
                black_box(raw.decode(&layout).unwrap());
                assert_eq!(raw.sample_id(&layout).unwrap().unwrap().cpu(), Some(2));
                walked += 1;
            }
        }
        walked
    });
    assert_eq!(walked, (0, 1_000_000));
}

/// Finding an error allocates nothing either.
#[test]
fn errors() {
    let (count, ()) = allocations(|| {
        for size in 0..64 {
            let bytes = [9, 0, 0, 0, 2, 0, size, 0, 1, 0, 0, 0];
            for raw in Records::<LittleEndian>::new(&bytes) {
                assert!(black_box(raw).is_err() || (8..=12).contains(&size));
            }
        }
    });
    assert_eq!(count, 0);
}

/// The count of allocations works.
#[test]
fn one_allocation() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))).0, 1);
}
