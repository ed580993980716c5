//! The layout of MMAP2 records: found in their bytes, or in other records of the file.

use perf_parse::Record;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::Mmap2Guesses;
use perf_parse::sample::Reading;

use crate::{attr, in_both_orders, open};
use testdata::Bytes;
use testdata::file::Builder;

/// What follows the identity of the file: words, then a string with its padding.
type After<'a> = (&'a [u32], &'a [u8]);

/// A path in the layout since Linux 3.16, and one in the old layout.
const CURRENT: After<'_> = (&[5, 2], b"/bin/ls\0");
const OLD: After<'_> = (&[], b"/bin/ls\0");
/// A path that may also be a protection, flags and a path.
const BOTH: After<'_> = (&[], b"/usr/bin/cat\0\0\0\0");

fn mmap2(big: bool, (words, path): After<'_>) -> Vec<u8> {
    let head = Bytes::new(big).u64s(&[1, 0x1000, 0x1000, 0]).u32(8).u32(1).u64(5).u64(6);
    words.iter().fold(head, |bytes, &word| bytes.u32(word)).raw(path).record(10, 2)
}

/// Returns the protection, the path and the reading of each record, and how many the account has with a guessed layout.
fn read(big: bool, records: &[After<'_>]) -> (Vec<(Option<u32>, String, Reading)>, Mmap2Guesses) {
    let built = Builder::new(big).event(attr(SampleType::IP), &[]);
    let built = records.iter().fold(built, |built, &after| built.data(mmap2(big, after))).build();
    let file = open(&built.bytes).unwrap();
    let mut records = file.records();
    let mut read = Vec::new();
    for record in &mut records {
        let record = record.unwrap();
        let Record::Mmap2(it) = record.decode().unwrap() else { panic!("{record:?}") };
        let path = String::from_utf8(it.filename.to_vec()).unwrap();
        read.push((it.prot_flags.map(|(prot, _)| prot), path, it.reading));
    }
    assert!(records.account().is_clean());
    (read, records.account().mmap2_guesses)
}

fn read_one(big: bool, record: After<'_>) -> (Option<u32>, String, Reading) {
    read(big, &[record]).0.remove(0)
}

/// Writers of the current layout store other values than protections.
fn any_value_in_the_place_of_the_protection(big: bool) {
    for prot in [0, 5, 0xff, 0x4000, 0x81a4, 0x81ed, 0x0200_0007, u32::MAX] {
        let name = b"/tmp/jitted-1-2.so\0\0\0\0\0\0";
        let expected = (Some(prot), "/tmp/jitted-1-2.so".to_owned(), Reading::Certain);
        assert_eq!(read_one(big, (&[prot, 1], name)), expected);
    }
}

fn paths_in_the_place_of_the_protection(big: bool) {
    let name = |name: &str, reading| (None, name.to_owned(), reading);
    assert_eq!(read_one(big, OLD), name("/bin/ls", Reading::Certain));
    assert_eq!(read_one(big, BOTH), name("/usr/bin/cat", Reading::Other));
    assert_eq!(read_one(big, (&[], b"[vdso]\0\0")), name("[vdso]", Reading::Certain));
    assert_eq!(
        read_one(big, (&[], b"anon_inode:[perf_event]\0")),
        name("anon_inode:[perf_event]", Reading::Other)
    );
}

fn other_records_of_the_file_decide(big: bool) {
    let path = ["/usr/bin/cat", "/cat"].map(str::to_owned);
    // The order of the records has no effect.
    for (records, at) in [([OLD, BOTH], 1), ([BOTH, OLD], 0), ([BOTH, BOTH], 0)] {
        let (mut read, guesses) = read(big, &records);
        assert_eq!(read.remove(at), (None, path[0].clone(), Reading::Other));
        let old = records.iter().filter(|&&record| record == BOTH).count() as u64;
        assert_eq!(guesses, Mmap2Guesses { current: 0, old });
    }
    for (records, at) in [([CURRENT, BOTH], 1), ([BOTH, CURRENT], 0)] {
        let (mut read, guesses) = read(big, &records);
        let prot = if big { 0x2f75_7372 } else { 0x7273_752f };
        assert_eq!(read.remove(at), (Some(prot), path[1].clone(), Reading::Usual));
        assert_eq!(guesses, Mmap2Guesses { current: 1, old: 0 });
    }
    // Records that disagree decide nothing.
    let (mut read, guesses) = read(big, &[CURRENT, OLD, BOTH]);
    assert_eq!(read.remove(2), (None, path[0].clone(), Reading::Other));
    assert_eq!(guesses, Mmap2Guesses { current: 0, old: 1 });
}

in_both_orders!(
    any_value_in_the_place_of_the_protection,
    paths_in_the_place_of_the_protection,
    other_records_of_the_file_decide,
);
