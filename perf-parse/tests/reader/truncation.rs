//! Captures truncated at any length.

use perf_parse::Reader;
use perf_parse::file::{FileErrorKind, Mode};

use crate::{Walk, capture, read, read_stream, round, sample, timed, walk};
use testdata::file::Builder;

/// Checks that a truncated capture returns the first records of the whole, and reports the truncation.
fn prefix(whole: &Walk, cut: &Walk, len: usize) {
    assert!(cut.seen.len() <= whole.seen.len());
    for (cut, whole) in cut.seen.iter().zip(&whole.seen) {
        assert_eq!((cut.offset, &cut.raw), (whole.offset, &whole.raw), "{len}");
    }
    assert!(cut.account.bytes + cut.account.bytes_skipped <= len as u64);
}

#[test]
fn a_file() {
    let bytes = capture("plain.data");
    let whole = read(&bytes);
    assert!(whole.account.is_clean());
    let reader = Reader::new(&bytes).unwrap();
    let Mode::File(header) = *reader.mode() else { panic!("a stream") };
    let mut opened = 0;
    for len in 0..bytes.len() {
        let Ok(reader) = Reader::new(&bytes[..len]) else {
            assert!((len as u64) < header.data.offset, "{len}");
            continue;
        };
        opened += 1;
        let cut = walk(reader.records());
        prefix(&whole, &cut, len);
        assert!(!cut.account.is_clean(), "{len}");
        // Every record that is complete is returned.
        let there = whole.seen.iter().take_while(|it| it.offset + it.raw.len() as u64 <= len as u64);
        assert_eq!(cut.seen.len(), there.count(), "{len}");
    }
    assert!(opened >= bytes.len() - header.data.offset as usize);
}

#[test]
fn a_stream() {
    for name in ["tracing.pipe.data", "buildid.pipe.data"] {
        let bytes = capture(name);
        let whole = read(&bytes);
        assert!(whole.account.is_clean());
        let behind = |it: &crate::Seen| match it.kind.0 {
            66 => u64::from(u32::from_le_bytes(it.raw[8..12].try_into().unwrap())).next_multiple_of(8),
            _ => 0,
        };
        let ends: Vec<_> = whole.seen.iter().map(|it| it.offset + it.raw.len() as u64 + behind(it)).collect();
        for len in 16..bytes.len() {
            let cut = read(&bytes[..len]);
            prefix(&whole, &cut, len);
            let at_a_boundary = len == 16 || ends.contains(&(len as u64));
            assert_eq!(cut.account.is_clean(), at_a_boundary, "{len}");
            assert_eq!(cut.seen.len(), ends.iter().filter(|&&end| end <= len as u64).count(), "{len}");
            assert_eq!(16 + cut.account.bytes + cut.account.bytes_skipped, len as u64);
            if len % 97 == 0 {
                let stream = read_stream(&bytes[..len], 100);
                assert_eq!((stream.seen, stream.errors), (cut.seen, cut.errors));
            }
        }
        for len in 0..16 {
            assert!(Reader::new(&bytes[..len]).is_err());
        }
    }
}

#[test]
fn a_recorder_that_died() {
    let data = [sample(1), sample(2), round(), sample(3)].concat();
    let whole = Builder::new(false).event(timed(), &[7]).data(&data).build();
    let start = whole.data;
    let died = whole.put(48, 0);
    let all = read(&died.bytes);
    assert_eq!((all.seen.len(), all.errors.len(), all.account.diagnostics.len()), (4, 0, 1));
    assert!(matches!(
        all.account.diagnostics[0].kind,
        FileErrorKind::Invalid { field: "header.data.size", value: 0, .. }
    ));
    for len in 0..data.len() {
        let cut = read(&died.clone().cut(start + len).bytes);
        let whole = [24, 48, 56, 80].iter().filter(|&&end| end <= len).count();
        assert_eq!(cut.seen.len(), whole, "{len}");
        assert_eq!(cut.account.bytes + cut.account.bytes_skipped, len as u64);
    }
    let real = read(&capture("killed.data"));
    assert!(real.seen.len() > 10);
    assert!(!real.account.is_clean());
}
