//! Dumps: the places of the areas in mappings of every kernel, and the account.

use perf_parse::abi::aux_area::AuxFlags;
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::record::RecordType;
use perf_parse::record::Aux;
use perf_parse::ring::{Buffer, DecidedBy, Direction, Dump, DumpAccount, RingError, TornRecord};

use super::oracle::Model;
use super::{invalid, record, truncated};
use testdata::Bytes;

const PAGE: usize = 4096;

/// Makes a mapping from the last fields of a page, from `data_head` on, and the areas after it.
fn mapping(big: bool, page_size: usize, fields: [u64; 8], areas: &[u8]) -> Vec<u8> {
    let mut page = Bytes::new(big).raw(&[0; 1024]).u64s(&fields).out;
    page.resize(page_size, 0);
    page.extend_from_slice(areas);
    page
}

fn open(mapping: &[u8], page_size: Option<u64>) -> Result<Dump<'_, LittleEndian>, RingError> {
    Dump::open(mapping, Direction::Forward, page_size)
}

fn area(mapping: &[u8], page_size: Option<u64>) -> (u64, u64, DecidedBy) {
    let area = open(mapping, page_size).unwrap().data_area();
    (area.offset, area.size, area.by)
}

fn error(fields: [u64; 8], areas: usize, page_size: Option<u64>) -> RingError {
    open(&mapping(false, PAGE, fields, &vec![0; areas]), page_size).map(drop).unwrap_err()
}

/// Reads all records. Returns their sizes and the error.
fn drain<O: Endian>(dump: &mut Dump<'_, O>) -> (Vec<u32>, Option<RingError>) {
    let (mut sizes, mut buffer) = (Vec::new(), Buffer::new());
    while let Some(record) = dump.next(&mut buffer) {
        match record {
            Ok(record) => sizes.push(record.size()),
            Err(error) => return (sizes, Some(error)),
        }
    }
    (sizes, None)
}

#[test]
fn the_page_says_where_the_data_is() {
    let with = |offset, size, length: usize| {
        mapping(false, PAGE, [0, 0, offset, size, 0, 0, 0, 0], &vec![0; length])
    };
    assert_eq!(area(&with(4096, 8192, 8192), None), (4096, 8192, DecidedBy::Page));
    // Independent of the given page size.
    assert_eq!(area(&with(4096, 8192, 8192), Some(1 << 16)), (4096, 8192, DecidedBy::Page));
}

/// Before Linux 4.1.
#[test]
fn the_page_does_not_say() {
    for page in [4096, 8192, 1 << 14, 1 << 16] {
        for pages in [1, 2, 8, 16] {
            let old = mapping(false, page, [0; 8], &vec![0; page * pages]);
            let (offset, size) = (page as u64, (page * pages) as u64);
            assert_eq!(area(&old, None), (offset, size, DecidedBy::Length));
            assert_eq!(area(&old, Some(offset)), (offset, size, DecidedBy::PageSize));
        }
    }
}

#[test]
fn mappings_that_cannot_be() {
    let both = |offset, size| [0, 0, offset, size, 0, 0, 0, 0];
    assert_eq!(
        error(both(0, 8192), 8192, None),
        invalid("data_offset", 0, "not 0, because data_size is not", 1040)
    );
    assert_eq!(
        error(both(4096, 0), 8192, None),
        invalid("data_size", 0, "not 0, because data_offset is not", 1048)
    );
    assert_eq!(
        error(both(1080, 8), 8192, None),
        invalid("data_offset", 1080, "at least 1088, the end of the control page", 1040)
    );
    assert_eq!(
        error(both(4096, 12288), 12288, None),
        invalid("data_size", 12288, "a power of two of at least 8", 1048)
    );
    assert_eq!(error(both(4096, 4), 4, None), invalid("data_size", 4, "a power of two of at least 8", 1048));
    assert_eq!(error(both(4096, 8192), 4096, None), truncated("data_size", 12288, 8192, 1048));
    assert_eq!(error(both(u64::MAX, 8192), 4096, None), truncated("data_size", u64::MAX, 8192, 1048));
    let must = "the number of bytes after data_offset, because the mapping has no AUX area";
    assert_eq!(error(both(4096, 4096), 8192, None), invalid("data_size", 4096, must, 1048));
    // Old kernels.
    let must = "a power of two of at least 4096, if the length of the mapping is right";
    assert_eq!(error([0; 8], 2048, None), invalid("data_offset", 2048, must, 1040));
    assert_eq!(error([0; 8], 0, None), invalid("data_offset", 2048, must, 1040));
    assert_eq!(
        error([0; 8], 6 * 4096, None),
        invalid("data_size", 6 * 4096, "a power of two of at least 8", 1048)
    );
    assert_eq!(
        error([0; 8], 3 * 4096, Some(4096)),
        invalid("data_size", 3 * 4096, "a power of two of at least 8", 1048)
    );
    assert_eq!(error([0; 8], 0, Some(4096)), invalid("data_size", 0, "a power of two of at least 8", 1048));
    assert_eq!(error([0; 8], 0, Some(8192)), invalid("data_size", 0, "a power of two of at least 8", 1048));
    let must = "the page size, a power of two of at least 4096";
    for page_size in [0, 2048, 6000] {
        assert_eq!(error([0; 8], 4096, Some(page_size)), invalid("data_offset", page_size, must, 1040));
    }
    let short = Dump::<LittleEndian>::open(&[0; 100], Direction::Forward, None).unwrap_err();
    assert_eq!(short, truncated("perf_event_mmap_page", 1088, 100, 0));
    // The errors of the walkers.
    let tail = error([0, 8, 4096, 4096, 0, 0, 0, 0], 4096, None);
    assert_eq!(tail, invalid("data_tail", 8, "at most data_head", 1032));
}

fn aux_of(fields: [u64; 8], areas: &[u8]) -> Result<Option<Vec<u8>>, RingError> {
    let mapping = mapping(false, PAGE, fields, areas);
    let dump = open(&mapping, None).unwrap();
    dump.aux().map(|area| area.map(|area| area.bytes().to_vec()))
}

#[test]
fn aux_areas() {
    let with = |offset, size| [0, 0, 4096, 4096, 0, 0, offset, size];
    let areas = [vec![0; 4096], vec![1; 8192]].concat();
    assert_eq!(aux_of(with(8192, 8192), &areas), Ok(Some(vec![1; 8192])));
    // Later in the mapping, as the reader may choose.
    assert_eq!(aux_of(with(12288, 4096), &areas), Ok(Some(vec![1; 4096])));
    // Not in the dump, or absent.
    assert_eq!(aux_of(with(8192, 8192), &areas[..4096]), Ok(None));
    assert_eq!(aux_of(with(0, 0), &areas[..4096]), Ok(None));
    assert_eq!(
        aux_of(with(4096, 8192), &areas),
        Err(invalid("aux_offset", 4096, "at least the end of the data area", 1072))
    );
    assert_eq!(aux_of(with(8192, 16384), &areas), Err(truncated("aux_size", 24576, 16384, 1080)));
    let must = "the number of bytes after aux_offset";
    assert_eq!(aux_of(with(8192, 4096), &areas), Err(invalid("aux_size", 4096, must, 1080)));
    let tail = [0, 0, 4096, 4096, 7, 8, 8192, 8192];
    assert_eq!(aux_of(tail, &areas), Err(invalid("aux_tail", 8, "at most aux_head", 1064)));

    // In a separate file.
    let data = mapping(false, PAGE, [0, 0, 4096, 4096, 100, 90, 8192, 128], &areas[..4096]);
    let dump = open(&data, None).unwrap();
    let bytes = [5; 128];
    let area = dump.separate_aux(&bytes).unwrap().unwrap();
    let record = Aux { aux_offset: 90, aux_size: 10, flags: AuxFlags::NONE };
    assert_eq!(area.data(&record).unwrap().first, [5; 10]);
    let must = "the length of the separate AUX area";
    assert_eq!(dump.separate_aux(&bytes[..64]).unwrap_err(), invalid("aux_size", 128, must, 1080));
    let alone = Dump::<LittleEndian>::new(&data[4096..], Direction::Forward, 0, 0).unwrap();
    assert!(alone.separate_aux(&bytes).unwrap().is_none() && alone.aux().unwrap().is_none());
    assert!(alone.page().is_none());
    assert_eq!(alone.data_area().by, DecidedBy::Caller);
}

/// Makes a ring with a LOST record of `lost` records, a LOST_SAMPLES record of as many samples, and a record of 24
/// bytes that wraps.
fn ring_with_losses(big: bool, lost: u64) -> Model {
    let mut model = Model::new(128, 72);
    model.push_forward(&Bytes::new(big).u64(1).u64(lost).record(RecordType::LOST.0, 0));
    model.push_forward(&Bytes::new(big).u64(lost).record(RecordType::LOST_SAMPLES.0, 0));
    model.push_forward(&record(big, RecordType::SAMPLE.0, 24, 9));
    model
}

fn losses<O: Endian>(big: bool) {
    let model = ring_with_losses(big, 7);
    let mut dump = Dump::<O>::new(&model.data, Direction::Forward, 72, model.head).unwrap();
    let all = DumpAccount { left: 64, ..DumpAccount::default() };
    assert_eq!(dump.account(), all);
    assert!(!dump.account().is_clean());
    assert_eq!(drain(&mut dump), (vec![24, 16, 24], None));
    let account =
        DumpAccount { records: 3, bytes: 64, wrapped: 1, lost: 7, lost_samples: 7, ..DumpAccount::default() };
    assert_eq!(dump.account(), account);
    assert!(account.is_clean());
}

#[test]
fn losses_are_counted_in_both_orders() {
    losses::<LittleEndian>(false);
    losses::<BigEndian>(true);
}

#[test]
fn losses_without_end_and_without_a_number() {
    let mut model = ring_with_losses(false, u64::MAX);
    model.push_forward(&Bytes::new(false).u64(1).u64(1).record(RecordType::LOST.0, 0));
    model.push_forward(&record(false, RecordType::LOST.0, 8, 0));
    let mut dump = Dump::<LittleEndian>::new(&model.data, Direction::Forward, 72, model.head).unwrap();
    assert_eq!(drain(&mut dump).0.len(), 5);
    assert_eq!((dump.account().lost, dump.account().lost_samples), (u64::MAX, u64::MAX));
}

#[test]
fn what_cannot_be_read_is_in_the_account() {
    let mut model = Model::new(64, 0);
    model.push_forward(&record(false, 14, 16, 0));
    model.push_forward(&record(false, 14, 5, 0));
    model.push_forward(&[0; 16]);
    let mut dump = Dump::<LittleEndian>::new(&model.data, Direction::Forward, 0, model.head).unwrap();
    let (sizes, error) = drain(&mut dump);
    assert_eq!((sizes, error.unwrap().position), (vec![16], 16));
    let account = DumpAccount { records: 1, bytes: 16, unread: 24, ..DumpAccount::default() };
    assert_eq!(dump.account(), account);
    assert!(!account.is_clean());
}

/// A backward ring in its mapping, newest first and oldest first: 4096 of 5104 written bytes are left.
#[test]
fn a_full_backward_ring() {
    let mut model = Model::new(4096, 0);
    for size in [1000, 2000, 504, 1600] {
        model.push_backward(&record(false, 9, size, 1));
    }
    let full = mapping(false, PAGE, [model.head, 0, 4096, 4096, 0, 0, 0, 0], &model.data);
    let mut newest = Dump::<LittleEndian>::open(&full, Direction::Backward, None).unwrap();
    let mut oldest = newest.clone().oldest_first();
    // The record of 2000 bytes ends 8 bytes too late.
    let torn = TornRecord { position: 3000_u64.wrapping_neg(), bytes: 1992 };
    let account =
        DumpAccount { records: 2, bytes: 2104, torn: Some(torn), wrapped: 1, ..DumpAccount::default() };
    assert_eq!(oldest.account().left, 2104);
    assert_eq!(drain(&mut newest), (vec![1600, 504], None));
    assert_eq!(newest.account(), account);
    assert_eq!(drain(&mut oldest), (vec![504, 1600], None));
    assert_eq!(oldest.account(), account);
    assert!(account.is_clean());
}

#[test]
fn a_backward_ring_of_a_32_bit_kernel_that_is_not_full() {
    let mut model = Model::new(128, 0);
    model.push_backward(&record(false, 9, 24, 1));
    let head = model.head & u64::from(u32::MAX);
    let mut dump = Dump::<LittleEndian>::new(&model.data, Direction::Backward, 0, head).unwrap();
    assert_eq!(drain(&mut dump), (vec![24], None));
    assert_eq!(
        dump.account(),
        DumpAccount { records: 1, bytes: 24, unwritten: 104, ..DumpAccount::default() }
    );
}

/// Damage ends the walk from the newest record, and is reported before the records that were found.
#[test]
fn a_damaged_backward_ring_turned_around() {
    let mut model = Model::new(128, 0);
    for size in [16, 5, 24, 32] {
        model.push_backward(&record(false, 9, size, 1));
    }
    let dump = Dump::<LittleEndian>::new(&model.data, Direction::Backward, 0, model.head).unwrap();
    let (mut dump, mut buffer) = (dump.oldest_first(), Buffer::new());
    let error = dump.next(&mut buffer).unwrap().unwrap_err();
    assert_eq!(error.position, 24_u64.wrapping_neg());
    assert_eq!(drain(&mut dump), (vec![24, 32], None));
    assert_eq!(dump.account(), DumpAccount { records: 2, bytes: 56, unread: 24, ..DumpAccount::default() });
    // A forward ring is not reversed.
    let mut forward =
        Dump::<LittleEndian>::new(&model.data, Direction::Forward, 0, 0).unwrap().oldest_first();
    assert_eq!(drain(&mut forward), (vec![], None));
}
