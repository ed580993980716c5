//! Counts near every limit: those that fit, those that leave bytes, and those whose size in bytes overflows.

use perf_parse::abi::attr::Attr;
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::record::UserRecord;
use perf_parse::{Error, ErrorKind, Record};
use testdata::Bytes;

use crate::{decoded, error, record, truncated};

/// Most bytes after a count.
const MOST: usize = 96;

/// Returns counts of elements of `size` bytes around each power of two, around what `available` bytes hold, and around
/// those whose size in bytes is at or above 2^63 and 2^64.
fn counts(size: u64, available: usize) -> Vec<u64> {
    let fit = available as u64 / size;
    if cfg!(miri) {
        return vec![0, fit, fit + 1, (u64::MAX / size).wrapping_add(1), u64::MAX];
    }
    let limits = [1_u128 << 63, 1 << 64].map(|limit| (limit / u128::from(size)) as u64);
    let powers = (0..64).map(|bit| 1 << bit);
    let mut counts: Vec<u64> = powers
        .chain(limits)
        .chain([0, fit, u64::MAX])
        .flat_map(|count: u64| [count.wrapping_sub(1), count, count.wrapping_add(1)])
        .collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Returns the result for `count` elements of `size` bytes in `available` bytes at `offset`, after which the record ends.
fn exactly(
    field: &'static str,
    count: u64,
    size: u64,
    available: usize,
    offset: usize,
) -> Result<u64, Error> {
    let needed = u128::from(count) * u128::from(size);
    let room = available as u128;
    if needed > room {
        return Err(truncated(field, u64::try_from(needed).unwrap_or(u64::MAX), available as u64, offset));
    }
    if needed < room {
        let bytes = u32::try_from(room - needed).unwrap();
        return Err(error(ErrorKind::Residue { bytes }, offset + usize::try_from(needed).unwrap()));
    }
    Ok(count)
}

/// Decodes records of `kind` with every count: `payload` adds what is before the elements, `before` bytes with the header.
fn check(
    attr: &Attr,
    (kind, before): (u32, usize),
    size: u64,
    payload: impl Fn(Bytes, u64) -> Bytes,
    elements: impl Fn(Record<'_>) -> usize,
    wanted: impl Fn(u64, usize) -> Result<u64, Error>,
) {
    for available in (0..=MOST).step_by(if cfg!(miri) { 24 } else { 1 }) {
        for count in counts(size, available) {
            let bytes = |big| {
                let bytes = record(big, kind, |bytes| payload(bytes, count).raw(&[0; MOST][..available]));
                assert_eq!(bytes.len(), before + available);
                bytes
            };
            let found = decoded(attr, bytes, |record| elements(record) as u64);
            assert_eq!(found, wanted(count, available), "{kind}: {count} elements in {available} bytes");
        }
    }
}

/// As [`check`], for a sample whose only field follows its count.
fn check_sample(
    attr: &Attr,
    size: u64,
    elements: impl Fn(&perf_parse::sample::Tail<'_>) -> usize,
    wanted: impl Fn(u64, usize) -> Result<u64, Error>,
) {
    let of_sample = |record: Record<'_>| {
        let Record::Sample(sample) = record else { panic!("{record:?}") };
        elements(&sample.tail().unwrap())
    };
    check(attr, (9, 16), size, Bytes::u64, of_sample, wanted);
}

fn sample_of(sample_type: SampleType) -> Attr {
    Attr { sample_type, sample_stack_user: 64, ..Attr::default() }
}

#[test]
fn of_records() {
    let attr = Attr::default();
    let links = |record: Record<'_>| match record {
        Record::Namespaces(namespaces) => namespaces.link_info.len(),
        other => panic!("{other:?}"),
    };
    let before_links = |bytes: Bytes, nr| bytes.u32(1).u32(1).u64(nr);
    check(&attr, (16, 24), 16, before_links, links, |nr, room| exactly("link_info", nr, 16, room, 24));

    let ips = |record: Record<'_>| match record {
        Record::CallchainDeferred(deferred) => deferred.ips.len(),
        other => panic!("{other:?}"),
    };
    check(
        &attr,
        (22, 24),
        8,
        |bytes, nr| bytes.u64(1).u64(nr),
        ips,
        |nr, room| exactly("ips", nr, 8, room, 24),
    );
}

#[test]
fn of_groups() {
    for format in [ReadFormat::NONE, ReadFormat::ID, ReadFormat::ID | ReadFormat::LOST] {
        let size = 8 * (1 + u64::from(format.0.count_ones()));
        let attr = Attr { read_format: format | ReadFormat::GROUP, ..sample_of(SampleType::READ) };
        let values = |record: Record<'_>| match record {
            Record::Read(read) => (read.read.nr(), read.read.values().count()),
            Record::Sample(sample) => {
                let read = sample.tail().unwrap().read.unwrap();
                (read.nr(), read.values().count())
            }
            other => panic!("{other:?}"),
        };
        let nr = |record: Record<'_>| {
            let (nr, values) = values(record);
            assert_eq!(nr, values);
            nr
        };
        let wanted = |offset| move |nr, room| exactly("read.values", nr, size, room, offset);
        check(&attr, (8, 24), size, |bytes, nr| bytes.u32(1).u32(1).u64(nr), nr, wanted(24));
        check(&attr, (9, 16), size, Bytes::u64, nr, wanted(16));
    }
}

#[test]
fn of_samples() {
    check_sample(
        &sample_of(SampleType::CALLCHAIN),
        8,
        |tail| tail.callchain.unwrap().words().len(),
        |nr, room| exactly("callchain", nr, 8, room, 16),
    );
    check_sample(
        &sample_of(SampleType::AUX),
        1,
        |tail| tail.aux.unwrap().len(),
        |size, room| exactly("aux.data", size, 1, room, 16),
    );
    // A second field keeps the walk from taking the way of a lone one.
    let attr = sample_of(SampleType::CALLCHAIN | SampleType::READ);
    let words = |record: Record<'_>| match record {
        Record::Sample(sample) => sample.tail().unwrap().callchain.unwrap().words().len(),
        other => panic!("{other:?}"),
    };
    check(
        &attr,
        (9, 24),
        8,
        |bytes, nr| bytes.u64(7).u64(nr),
        words,
        |nr, room| exactly("callchain", nr, 8, room, 24),
    );
}

#[test]
fn of_raw_data() {
    let data = |record: Record<'_>| match record {
        Record::Sample(sample) => sample.tail().unwrap().raw.unwrap().len(),
        other => panic!("{other:?}"),
    };
    // The size has 32 bits; all higher bits of a count are cut off here.
    check(
        &sample_of(SampleType::RAW),
        (9, 12),
        1,
        |bytes, size| bytes.u32(size as u32),
        data,
        |size, room| exactly("raw.data", u64::from(size as u32), 1, room, 12),
    );
}

/// A stack has a second size after it, unless the first is 0.
#[test]
fn of_stacks() {
    check_sample(
        &sample_of(SampleType::STACK_USER),
        1,
        |tail| tail.stack_user.unwrap().data.len(),
        |size, room| match size {
            0 => exactly("", 0, 1, room, 16),
            _ if size > room as u64 => Err(truncated("stack_user.data", size, room as u64, 16)),
            _ => {
                let (end, left) = (16 + size as usize, room - size as usize);
                exactly("stack_user.dyn_size", 1, 8, left, end).map(|_| size)
            }
        },
    );
}

/// Branches have counters after them that the event did not ask for, if that is what fits.
#[test]
fn of_branches() {
    let wanted = |entries: fn(u64) -> bool| {
        move |nr: u64, room: usize| {
            let is_with_counters = nr != 0 && u128::from(nr) * 32 == room as u128;
            if is_with_counters || entries(nr) && u128::from(nr) * 24 == room as u128 {
                return Ok(nr);
            }
            exactly("branch_stack.entries", nr, 24, room, 16)
        }
    };
    check_sample(
        &sample_of(SampleType::BRANCH_STACK),
        24,
        |tail| tail.branch_stack.unwrap().entries.len(),
        wanted(|_| true),
    );
    // An event that asks for counters: those that are missing are the reason, if only they are.
    let attr = Attr { branch_sample_type: BranchSampleType::COUNTERS, ..sample_of(SampleType::BRANCH_STACK) };
    check_sample(
        &attr,
        24,
        |tail| tail.branch_stack.unwrap().entries.len(),
        |nr, room| {
            let entries = u128::from(nr) * 24;
            let left = (room as u128).checked_sub(entries);
            match left {
                None => exactly("branch_stack.entries", nr, 24, room, 16),
                Some(0) => Ok(nr),
                Some(left) if nr != 0 => {
                    let offset = 16 + entries as usize;
                    exactly("branch_stack.counters", nr, 8, left as usize, offset)
                }
                Some(_) => exactly("branch_stack.entries", 0, 24, room, 16),
            }
        },
    );
}

/// Records of perf keep what follows the elements.
#[test]
fn of_perfs_records() {
    fn at_least(
        field: &'static str,
        count: u64,
        size: u64,
        room: usize,
        offset: usize,
    ) -> Result<u64, Error> {
        match exactly(field, count, size, room, offset) {
            Err(Error { kind: ErrorKind::Residue { .. }, .. }) => Ok(count),
            other => other,
        }
    }
    let entries = |record: Record<'_>| match record {
        Record::User(UserRecord::IdIndex(index), _) => index.entries.len(),
        Record::User(UserRecord::ThreadMap(map), _) => map.entries.len(),
        Record::User(UserRecord::StatConfig(config), _) => config.entries.len(),
        other => panic!("{other:?}"),
    };
    let attr = Attr::default();
    for (kind, size, field) in [(69, 32, "entries"), (73, 24, "entries"), (75, 16, "data")] {
        check(&attr, (kind, 16), size, Bytes::u64, entries, |nr, room| at_least(field, nr, size, room, 16));
    }
}
