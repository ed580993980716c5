//! Damage: undamaged records are returned, and the account reports the damage.

use perf_parse::file::{FileError, FileErrorKind};
use perf_parse::{Error, ErrorKind, Reader};

use crate::pipe::{attr, header};
use crate::{Walk, read, read_stream, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

/// Makes a file of samples 1 to 6, with the bytes `middle` after the third. Returns also their offset.
fn with(middle: &[u8]) -> (Vec<u8>, u64) {
    let before = (1..=3).map(sample).collect::<Vec<_>>().concat();
    let behind = (4..=6).map(sample).collect::<Vec<_>>().concat();
    let at = before.len();
    let built = Builder::new(false).event(timed(), &[7]).data(before).data(middle).data(behind).build();
    (built.bytes, (built.data + at) as u64)
}

/// Checks that all samples were returned, and only `bytes` at `offset` were skipped.
fn skipped_alone(all: &Walk, offset: u64, bytes: u64) {
    assert_eq!(all.times(), [1, 2, 3, 4, 5, 6].map(Some), "{:?}", all.errors);
    let [FileError { kind: FileErrorKind::Boundary(error), offset: at }, skipped] = all.errors[..] else {
        panic!("{:?}", all.errors)
    };
    assert_eq!(at, offset + u64::from(error.offset));
    assert_eq!(skipped, FileError { kind: FileErrorKind::Skipped { bytes }, offset });
    assert_eq!(all.account.diagnostics, all.errors);
    assert_eq!((all.account.records, all.account.bytes_skipped), (6, bytes));
    assert_eq!(all.account.bytes, 6 * 24);
}

#[test]
fn records_without_a_size() {
    for zeroes in 1..=100 {
        // With 6 zeroes the type of the next record is read as a valid size. With 7 more bytes must be skipped.
        if zeroes == 6 {
            continue;
        }
        let (bytes, at) = with(&vec![0; zeroes]);
        skipped_alone(&read(&bytes), at, zeroes as u64);
    }
}

#[test]
fn records_past_the_end() {
    for ones in 8..=100 {
        let (bytes, at) = with(&vec![0xff; ones]);
        skipped_alone(&read(&bytes), at, ones as u64);
    }
    let mut huge = sample(10);
    huge[6..8].copy_from_slice(&60_000_u16.to_le_bytes());
    let (bytes, at) = with(&huge);
    skipped_alone(&read(&bytes), at, 24);
}

#[test]
fn in_a_stream() {
    let head = [header(false), attr(false, &timed(), &[7])].concat();
    for middle in [vec![0; 16], vec![0; 13], vec![0; 300_001], vec![0; 600_000], b"not a record".repeat(99)] {
        let before = (1..=3).map(sample).collect::<Vec<_>>().concat();
        let behind = (4..=6).map(sample).collect::<Vec<_>>().concat();
        let bytes = [&head, &before, &middle, &behind].map(Vec::as_slice).concat();
        let at = head.len() + before.len();
        let memory = read(&bytes);
        let mut streams: Vec<_> = [1000, 4096, 1 << 20].map(|most| read_stream(&bytes, most)).into();
        streams.push(memory);
        for mut all in streams {
            // The attr.
            all.seen.remove(0);
            all.account.records -= 1;
            all.account.bytes -= (head.len() - 16) as u64;
            skipped_alone(&all, at as u64, middle.len() as u64);
        }
    }
}

#[test]
fn a_boundary_wherever_the_window_ends() {
    // The reader reads a stream in windows; a boundary at the edge of a window is found like any other.
    let head = [header(false), attr(false, &timed(), &[7]), sample(1)].concat();
    let behind: Vec<_> = (2..40_000).flat_map(sample).collect();
    // With reads of 4 KiB and of 64 KiB the first window ends before these two.
    for zeroes in
        [266_072, 327_512, 1 << 18, (1 << 18) - 8, (1 << 18) + 8, (1 << 18) + 1, 1 << 19, (1 << 19) - 1]
    {
        let bytes = [head.clone(), vec![0; zeroes], behind.clone()].concat();
        for most in [1 << 12, 1 << 16] {
            let all = read_stream(&bytes, most);
            assert_eq!(all.account.bytes_skipped, zeroes as u64, "{most}");
            assert_eq!(all.seen.len(), 40_000);
        }
    }
}

#[test]
fn text_at_the_end() {
    let text = b"and then somebody wrote this to the file\n";
    let data: Vec<_> = (1..=6).flat_map(sample).collect();
    let built = Builder::new(false).event(timed(), &[7]).data(&data).data(text).build();
    skipped_alone(&read(&built.bytes), (built.data + data.len()) as u64, text.len() as u64);
    // A part of a header.
    for len in 1..8 {
        let built = Builder::new(false).event(timed(), &[7]).data(&data).data(&text[..len]).build();
        skipped_alone(&read(&built.bytes), (built.data + data.len()) as u64, len as u64);
    }
}

#[test]
fn a_damaged_record_costs_itself() {
    let damaged = Bytes::new(false).u64(7).record(9, 0);
    let (bytes, at) = with(&damaged);
    let all = read(&bytes);
    assert_eq!((all.seen.len(), all.errors.len(), all.account.bytes_skipped), (7, 0, 0));
    let wrong: Vec<_> = all.seen.iter().filter(|it| !it.decodes).map(|it| it.offset).collect();
    assert_eq!(wrong, [at]);
}

#[test]
fn twice() {
    let (bytes, at) = with(&[vec![0; 16], (20..30).flat_map(sample).collect(), vec![0; 40]].concat());
    let all = read(&bytes);
    assert_eq!((all.seen.len(), all.account.bytes_skipped), (16, 56));
    let size = ErrorKind::RecordSize { size: 0 };
    let boundary = FileErrorKind::Boundary(Error { kind: size, offset: 6 });
    let skipped = |bytes| FileErrorKind::Skipped { bytes };
    assert_eq!(all.kinds(), [boundary, skipped(16), boundary, skipped(40)]);
    assert_eq!(all.errors[2].offset, at + 16 + 240 + 6);
}

#[test]
fn a_record_that_looks_like_one_is_not_enough() {
    // A single plausible header in garbage is no boundary; four in a row are.
    let lone = [vec![0; 16], sample(50), vec![0; 16]].concat();
    let (bytes, at) = with(&lone);
    skipped_alone(&read(&bytes), at, lone.len() as u64);
    // Samples of an unknown event are no boundary.
    let foreign = Bytes::new(false).u64s(&[8, 1]).record(9, 0).repeat(5);
    let two = Builder::new(false)
        .event(timed(), &[7])
        .event(timed(), &[9])
        .data(sample(1))
        .data([0; 8])
        .data(foreign)
        .data(sample(2))
        .build();
    let all = read(&two.bytes);
    assert_eq!((all.times(), all.account.bytes_skipped), (vec![Some(1), Some(2)], 8 + 5 * 24));
}

#[test]
fn nothing_to_be_found() {
    let (bytes, _) = with(&[]);
    let data = bytes.len() - 6 * 24;
    let rubbish = [bytes[..data].to_vec(), vec![0; 144]].concat();
    let all = read(&rubbish);
    assert_eq!((all.seen.len(), all.errors.len(), all.account.bytes_skipped), (0, 2, 144));
}

#[test]
fn zeros_of_some_pages() {
    for zeros in [4094, 4095, 4096, 4097, 4104, 8191, 8192, 8193, 100_003] {
        let (bytes, at) = with(&vec![0; zeros]);
        skipped_alone(&read(&bytes), at, zeros as u64);
        // With one byte that belongs to no record: at the start, in the middle and at the end.
        for one in [0, 4095, zeros - 1].map(|one| one.min(zeros - 1)) {
            let mut middle = vec![0; zeros];
            middle[one] = 0xff;
            let (bytes, at) = with(&middle);
            let all = read(&bytes);
            assert_eq!((all.times().len(), all.account.bytes_skipped), (6, zeros as u64), "{one} at {at:#x}");
        }
    }
}

#[test]
fn holes_are_not_looked_at() {
    let (bytes, at) = with(&[&[0; 8][..], &sample(9).repeat(20), &[0; 8]].concat());
    let read = |holes: &[core::ops::Range<u64>]| {
        let mut reader = Reader::new(&bytes).unwrap();
        reader.set_holes(0, holes);
        reader.set_holes(1, &[]);
        let all = walk(reader.records());
        (all.seen.len(), all.account.bytes_skipped)
    };
    let samples = 20 * 24;
    assert_eq!(read(&[]), (26, 16));
    // The zeros are assumed in these ranges: up to the end of the samples, up to the last sample, and before and
    // after the whole.
    let all = at + 8..at + 8 + samples;
    assert_eq!(read(core::slice::from_ref(&all)), (6, 16 + samples));
    assert_eq!(
        read(&[0..1, all.start..all.end - 24 * 4, u64::MAX - 1..u64::MAX]),
        (6 + 4, 16 + samples - 24 * 4)
    );
}
