//! Rings that keep the newest records, and reading several rings.

use core::ops::ControlFlow;

use perf_open::abi::endian::NativeEndian;
use perf_open::parse::Record;
use perf_open::parse::ring::{Buffer, Direction, Dump, RingErrorKind};
use perf_open::ring::{OverwriteSnapshot, loopback, merge, page_bytes};

use crate::{attr, sample};

fn ips(mut records: OverwriteSnapshot<'_>) -> Vec<u64> {
    let mut ips = Vec::new();
    while let Some(record) = records.next_with_event() {
        let Record::Sample(sample) = record.unwrap().decode().unwrap() else { panic!("not a sample") };
        ips.push(sample.ip().unwrap());
    }
    ips
}

#[test]
fn the_newest_records_are_kept() {
    let (mut ring, mut writer) = loopback::overwrite(&attr(), 1).unwrap();
    let fit = page_bytes() as u64 / 48;
    // Miri is slow; three times as many as fit.
    let until = if cfg!(miri) { 3 * fit } else { 1000 };
    for number in 0..until {
        assert!(writer.write(&sample(number, number)));
        let mut paused = ring.pause().unwrap();
        assert!(!writer.write(&sample(0, 0)), "it is paused");
        let kept = ips(paused.records().unwrap());
        let newest: Vec<u64> = (0..=number).rev().take(fit as usize).collect();
        assert_eq!(kept, newest);
        paused.resume().unwrap();
    }
    let mut paused = ring.pause().unwrap();
    let mut records = paused.records().unwrap();
    assert!(records.torn().is_none(), "not known yet");
    while records.next_record().is_some() {}
    assert_eq!(records.torn().map(|torn| torn.bytes), Some(page_bytes() as u64 % 48));
}

#[test]
fn news_are_what_came_since() {
    let (mut ring, mut writer) = loopback::overwrite(&attr(), 1).unwrap();
    assert!(ips(ring.pause().unwrap().news().unwrap()).is_empty());
    for number in 0..3 {
        assert!(writer.write(&sample(number, number)));
    }
    assert_eq!(ips(ring.pause().unwrap().news().unwrap()), [2, 1, 0]);
    assert!(writer.write(&sample(3, 3)), "dropping the guard resumed the ring");
    assert!(writer.write(&sample(4, 4)));
    let mut paused = ring.pause().unwrap();
    assert_eq!(ips(paused.news().unwrap()), [4, 3]);
    assert_eq!(ips(paused.news().unwrap()), [4, 3], "of one pause, the same");
    assert_eq!(ips(paused.records().unwrap()), [4, 3, 2, 1, 0]);
    drop(paused);
    assert!(ips(ring.pause().unwrap().news().unwrap()).is_empty());
}

#[test]
fn more_than_the_ring_since_the_last_pause_is_all_of_it() {
    let (mut ring, mut writer) = loopback::overwrite(&attr(), 1).unwrap();
    assert!(writer.write(&sample(0, 0)));
    assert_eq!(ips(ring.pause().unwrap().news().unwrap()), [0]);
    for number in 1..500 {
        assert!(writer.write(&sample(number, number)));
    }
    let mut paused = ring.pause().unwrap();
    let news = ips(paused.news().unwrap());
    assert_eq!(news, ips(paused.records().unwrap()));
    assert_eq!(news.len(), page_bytes() / 48);
}

#[test]
fn a_dump_decodes_to_the_same() {
    let (mut ring, mut writer) = loopback::overwrite(&attr(), 1).unwrap();
    for number in 0..200 {
        assert!(writer.write(&sample(number, number)));
    }
    let mut paused = ring.pause().unwrap();
    let dump = paused.dump();
    let mut offline = Dump::<NativeEndian>::open(&dump, Direction::Backward, None).unwrap();
    let mut buffer = Buffer::new();
    let mut records = paused.records().unwrap();
    while let Some(live) = records.next_record() {
        let recorded = offline.next(&mut buffer).unwrap().unwrap();
        assert_eq!(recorded.payload(), live.unwrap().payload());
    }
    assert!(offline.next(&mut buffer).is_none());
}

#[test]
fn any_head_gives_records_or_an_error() {
    for head in [1, 8, 48, u64::MAX, 1 << 63, 0_u64.wrapping_sub(48)] {
        let (mut ring, mut writer) = loopback::overwrite(&attr(), 1).unwrap();
        for number in 0..200 {
            assert!(writer.write(&sample(number, number)));
        }
        writer.corrupt(head);
        let mut paused = ring.pause().unwrap();
        match paused.records() {
            Ok(mut records) => {
                let mut seen = 0;
                while records.next_record().is_some() {
                    seen += 1;
                }
                assert!(seen <= page_bytes() / 8);
            }
            Err(error) => {
                assert_ne!(head % 8, 0);
                assert!(matches!(error.kind, RingErrorKind::Invalid { field: "data_head", .. }), "{error}");
            }
        }
    }
}

#[test]
fn rings_merge_by_time_and_what_is_broken_at_stays() {
    let (one, mut to_one) = loopback::ring(&attr(), 1).unwrap();
    let (two, mut to_two) = loopback::ring(&attr(), 1).unwrap();
    let (three, mut to_three) = loopback::ring(&attr(), 1).unwrap();
    for time in [1, 4, 4, 9] {
        assert!(to_one.write(&sample(time, time)));
    }
    for time in [2, 4, 5] {
        assert!(to_two.write(&sample(time, time)));
    }
    let mut rings = [one, two, three];
    let mut order = Vec::new();
    let broke = merge(&mut rings, |record| {
        let record = record.unwrap();
        if record.time() > Some(4) {
            return ControlFlow::Break(record.time());
        }
        order.push((record.position().data_file, record.time().unwrap()));
        ControlFlow::Continue(())
    });
    assert_eq!(broke, Some(Some(5)));
    assert_eq!(order, [(0, 1), (1, 2), (0, 4), (0, 4), (1, 4)]);
    assert_eq!(rings.each_ref().map(|ring| ring.account().records), [3, 2, 0]);

    assert!(to_three.write(&sample(6, 6)));
    to_two.corrupt(1 << 40);
    let (mut order, mut errors) = (Vec::new(), Vec::new());
    let broke = merge(&mut rings, |record| {
        match record {
            Ok(record) => order.push((record.position().data_file, record.time().unwrap())),
            Err(error) => errors.push(error.ring),
        }
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(broke, None);
    assert_eq!(order, [(2, 6), (0, 9)]);
    assert_eq!(errors, [1]);
    assert_eq!(rings.each_ref().map(|ring| ring.account().records), [4, 2, 1]);
}
