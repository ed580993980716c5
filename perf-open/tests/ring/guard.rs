//! The guard: records that are taken, records that stay, and corrupt control pages.

use core::time::Duration;

use perf_open::Ring;
use perf_open::abi::endian::NativeEndian;
use perf_open::abi::record::RecordType;
use perf_open::parse::file::FileErrorKind;
use perf_open::parse::ring::{Buffer, Direction, Dump, RingErrorKind};
use perf_open::ring::{DrainError, loopback, page_bytes};

use crate::{attr, record, sample};

/// How often a ring is filled. Miri is slow.
const ROUNDS: u64 = if cfg!(miri) { 4 } else { 100 };

/// Returns the ips of the samples in a drain.
fn ips(ring: &mut Ring) -> Vec<u64> {
    let mut drain = ring.read().unwrap();
    let mut ips = Vec::new();
    while let Some(record) = drain.next_with_event() {
        let sample = record.unwrap().sample().expect("a sample");
        ips.push(sample.ip().unwrap());
    }
    ips
}

#[test]
fn pages_must_be_a_power_of_two() {
    for (pages, said) in [(0, "such as 1"), (3, "such as 2"), (7, "such as 4"), (usize::MAX, "power of two")]
    {
        let error = loopback::ring(&attr(), pages).unwrap_err();
        assert_eq!(error.errno(), None, "no call is made");
        assert!(error.to_string().contains(&format!("pages {pages}")), "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
    let error = loopback::ring(&attr(), 1 << (usize::BITS - 1)).unwrap_err();
    assert!(error.to_string().contains("address space"), "{error}");
}

#[test]
fn records_come_once_and_in_order_across_the_seam() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    let (mut next, mut expected) = (0, 0);
    for _ in 0..ROUNDS {
        while writer.write(&sample(next, next)) {
            next += 1;
        }
        for ip in ips(&mut ring) {
            assert_eq!(ip, expected);
            expected += 1;
        }
    }
    assert_eq!(next, expected);
    // 48 does not divide a page: most rounds had a record that wraps.
    assert_ne!(page_bytes() % 48, 0);
    let account = ring.account();
    assert_eq!((account.records, account.bytes), (next, next * 48));
    assert_eq!((account.lost, account.skipped), (0, 0));
}

#[test]
fn spans_are_the_records_once_and_in_order_across_the_seam() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    let (mut next, mut copied, mut written, mut spans) = (0, Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        while writer.write(&sample(next, next)) {
            written.extend(sample(next, next));
            next += 1;
        }
        let mut drain = ring.read().unwrap();
        while let Some(span) = drain.next_span() {
            copied.extend_from_slice(span.unwrap());
            drain.release();
            spans += 1;
        }
    }
    assert!(copied == written, "{} bytes of {}", copied.len(), written.len());
    assert!(spans < 4 * ROUNDS, "{spans} spans of {next} records");
    let account = ring.account();
    assert_eq!((account.records, account.bytes), (next, next * 48));
}

#[test]
fn the_largest_record_is_made_whole() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 32).unwrap();
    let words: Vec<u64> = (0..8190).collect();
    let large = record(RecordType(1000), &words);
    assert_eq!(large.len(), 65528);
    for _ in 0..if cfg!(miri) { 1 } else { 5 } {
        assert!(writer.write(&large));
        let mut drain = ring.read().unwrap();
        let raw = drain.next_record().unwrap().unwrap();
        assert_eq!(raw.payload(), &large[8..]);
        assert!(drain.next_record().is_none());
    }
}

#[test]
fn room_is_given_back_when_the_guard_drops() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    let mut count = 0;
    while writer.write(&sample(count, 0)) {
        count += 1;
    }
    let mut drain = ring.read().unwrap();
    drain.next_record().unwrap().unwrap();
    drain.next_record().unwrap().unwrap();
    assert!(!writer.write(&sample(count, 0)), "nothing is given back yet");
    assert_eq!(drain.left(), (count - 2) * 48);
    drain.release();
    assert!(writer.write(&sample(count, 0)));
    drain.next_record().unwrap().unwrap();
    drop(drain);
    assert_eq!(ring.account().records, 3);
    assert_eq!(ips(&mut ring).first(), Some(&3));
    assert_eq!(ring.account().records, count + 1);
}

#[test]
fn what_is_kept_or_cancelled_comes_again() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    for number in 0..5 {
        assert!(writer.write(&sample(number, 0)));
    }
    let mut drain = ring.read().unwrap();
    drain.keep_last(); // none was taken
    drain.next_record().unwrap().unwrap();
    drain.next_record().unwrap().unwrap();
    drain.keep_last();
    drain.keep_last(); // once a record
    drop(drain);
    assert_eq!(ring.account().records, 1);

    let mut drain = ring.read().unwrap();
    drain.next_record().unwrap().unwrap();
    drain.release();
    drain.keep_last(); // released already
    drain.next_record().unwrap().unwrap();
    drain.cancel();
    assert_eq!(ring.account().records, 2);

    let mut drain = ring.read().unwrap();
    drain.next_record().unwrap().unwrap();
    core::mem::forget(drain); // as cancel, but for the account
    assert_eq!(ips(&mut ring), [2, 3, 4]);
    assert_eq!(ring.account().records, 5);
}

#[test]
fn losses_are_counted() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    let trailer = [7, 0, 0];
    assert!(writer.write(&record(RecordType::LOST, &[&[1, 40][..], &trailer].concat())));
    assert!(writer.write(&record(RecordType::LOST, &[&[1, 2][..], &trailer].concat())));
    assert!(writer.write(&record(RecordType::LOST_SAMPLES, &[&[5][..], &trailer].concat())));
    assert!(writer.write(&record(RecordType::LOST, &[]))); // too short to say how many
    let mut drain = ring.read().unwrap();
    let mut errors = 0;
    while let Some(record) = drain.next_with_event() {
        let record = record.unwrap();
        assert_eq!(record.event, 0);
        errors += u32::from(record.decode().is_err());
    }
    drop(drain);
    assert_eq!(errors, 1);
    let account = ring.account();
    assert_eq!((account.records, account.lost, account.lost_samples), (4, 42, 5));
    assert_eq!(account.unreported(50), 8);
}

#[test]
fn a_head_beyond_reason_is_an_error() {
    let size = page_bytes() as u64;
    for head in [size + 8, u64::MAX, 1 << 63, u64::MAX - 7, 12] {
        let (mut ring, writer) = loopback::ring(&attr(), 1).unwrap();
        writer.corrupt(head);
        let error = ring.read().unwrap_err();
        let RingErrorKind::Invalid { field, value, .. } = error.kind else { panic!("{error}") };
        assert_eq!((field, value), ("data_head", head));
        assert!(ring.read().is_err(), "it stays one");
        assert_eq!(ring.skip(), head.min(size));
        assert_eq!(ring.account().skipped, head.min(size));
        if head % 8 == 0 {
            assert!(ring.read().unwrap().next_record().is_none());
        }
    }
}

#[test]
fn records_that_were_never_written_end_the_walk() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    assert!(writer.write(&sample(1, 1)));
    writer.corrupt(page_bytes() as u64);
    for _ in 0..2 {
        let mut drain = ring.read().unwrap();
        if drain.position() == 0 {
            drain.next_record().unwrap().unwrap();
        }
        let error = drain.next_record().unwrap().unwrap_err();
        assert_eq!(error.position, 48);
        assert!(matches!(error.kind, RingErrorKind::RecordSize { size: 0, .. }), "{error}");
        assert!(drain.next_record().is_none());
        assert!(drain.next_with_event().is_none());
    }
    let left = page_bytes() as u64 - 48;
    assert_eq!(ring.read().unwrap().skip_rest(), left);
    let account = ring.account();
    assert_eq!((account.records, account.skipped), (1, left));
    assert!(ring.read().unwrap().next_record().is_none());
}

#[test]
fn a_record_that_ends_beyond_the_head_is_an_error() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    let mut cut = sample(1, 1);
    cut.truncate(16);
    assert!(writer.write(&cut));
    let mut drain = ring.read().unwrap();
    let error = drain.next_record().unwrap().unwrap_err();
    assert!(matches!(error.kind, RingErrorKind::Truncated { needed: 48, available: 16, .. }), "{error}");
}

#[test]
fn a_dump_decodes_to_what_the_reader_gives() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    let mut number = 0;
    for _ in 0..3 {
        while writer.write(&sample(number, number)) {
            number += 1;
        }
        let dump = ring.dump();
        let mut offline = Dump::<NativeEndian>::open(&dump, Direction::Forward, None).unwrap();
        let mut buffer = Buffer::new();
        let mut drain = ring.read().unwrap();
        while let Some(live) = drain.next_record() {
            let recorded = offline.next(&mut buffer).unwrap().unwrap();
            assert_eq!(recorded.payload(), live.unwrap().payload());
        }
        assert!(offline.next(&mut buffer).is_none());
    }
}

#[test]
fn the_page_is_readable() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 2).unwrap();
    assert!(writer.write(&sample(1, 1)));
    assert!(writer.write(&sample(2, 2)));
    ring.read().unwrap().next_record().unwrap().unwrap();
    let page = ring.page();
    assert_eq!((page.data_head, page.data_tail), (96, 48));
    assert_eq!((page.data_offset, page.data_size), (page_bytes() as u64, 2 * page_bytes() as u64));
    assert!(page.is_settled());
    assert_eq!(ring.size(), 2 * page_bytes());
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no poll")]
fn a_wakeup_is_told_once() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    let none = Some(Duration::ZERO);
    assert!(!ring.wait(none).unwrap().records);
    assert!(writer.write(&sample(1, 1)));
    writer.wake();
    writer.wake();
    let ready = ring.wait(None).unwrap();
    assert!(ready.records && !ready.hangup);
    assert!(!ring.wait(none).unwrap().records);
    assert_eq!(ring.account().wakeups, 1);
}

#[test]
fn a_record_of_no_event_is_told_and_taken() {
    let (mut ring, mut writer) = loopback::ring(&attr(), 1).unwrap();
    // Records of the perf tool have no event. The kernel never writes them.
    assert!(writer.write(&record(RecordType::FINISHED_ROUND, &[])));
    assert!(writer.write(&sample(1, 1)));
    let mut drain = ring.read().unwrap();
    let error = drain.next_with_event().unwrap().unwrap_err();
    let unknown = FileErrorKind::UnknownEvent { kind: RecordType::FINISHED_ROUND };
    assert_eq!(*error, DrainError::Event { position: 0, error: unknown });
    assert_eq!(drain.next_with_event().unwrap().unwrap().raw.kind(), RecordType::SAMPLE);
    assert!(drain.next_with_event().is_none());
}
