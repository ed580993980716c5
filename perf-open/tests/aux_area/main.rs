//! AUX areas, tested on an area that the program writes itself.

#![cfg(target_os = "linux")]

use perf_open::abi::attr::Attr;
use perf_open::abi::aux_area::AuxFlags;
use perf_open::parse::record;
use perf_open::parse::ring::RingErrorKind;
use perf_open::ring::{loopback, page_bytes};

/// Returns trace data: words that count up from `first`.
fn trace(first: u64, words: u64) -> Vec<u8> {
    (first..first + words).flat_map(u64::to_ne_bytes).collect()
}

fn told(aux_offset: u64, aux_size: u64) -> record::Aux {
    record::Aux { aux_offset, aux_size, flags: AuxFlags::PARTIAL }
}

#[test]
fn data_comes_whole_and_in_order_across_the_seam() {
    let (ring, _writer) = loopback::ring(&Attr::default(), 1).unwrap();
    let (mut aux, mut writer) = loopback::aux(&ring, 1).unwrap();
    assert_eq!(aux.size(), page_bytes());
    let mut position = 0;
    // Miri is slow. The area wraps in the sixth round.
    for round in 0..if cfg!(miri) { 6 } else { 50 } {
        let words = 100 + round;
        let written = trace(position / 8, words);
        assert!(writer.write(&written));
        let mut drain = aux.read().unwrap();
        assert_eq!(drain.position(), position);
        let data = drain.data(&told(position, words * 8)).unwrap();
        assert_eq!([data.first, data.second].concat(), written);
        assert_eq!((data.position, data.flags), (position, AuxFlags::PARTIAL));
        position += words * 8;
    }
    assert_eq!(ring.page().aux_tail, position);
    assert_eq!(ring.page().aux_head, position);
}

#[test]
fn the_hardware_waits_for_the_reader() {
    let (ring, _writer) = loopback::ring(&Attr::default(), 1).unwrap();
    let (mut aux, mut writer) = loopback::aux(&ring, 1).unwrap();
    let full = trace(0, page_bytes() as u64 / 8);
    assert!(writer.write(&full));
    assert!(!writer.write(&trace(0, 1)));
    let mut drain = aux.read().unwrap();
    drain.data(&told(0, 64)).unwrap();
    drain.cancel();
    assert!(!writer.write(&trace(0, 1)), "nothing was given back");
    let mut drain = aux.read().unwrap();
    drain.data(&told(64, 64)).unwrap();
    drain.data(&told(0, 64)).unwrap();
    drop(drain);
    assert_eq!(ring.page().aux_tail, 128, "all before the last is given back");
    let mut drain = aux.read().unwrap();
    let (first, second) = drain.all();
    assert_eq!((first, second.len()), (&full[128..], 0));
    drop(drain);
    assert!(writer.write(&full));
    let mut drain = aux.read().unwrap();
    let (first, second) = drain.all();
    assert_eq!([first, second].concat(), full);
}

#[test]
fn records_that_tell_of_what_is_not_there_are_errors() {
    let (ring, _writer) = loopback::ring(&Attr::default(), 1).unwrap();
    let (mut aux, mut writer) = loopback::aux(&ring, 1).unwrap();
    let size = page_bytes() as u64;
    assert!(writer.write(&trace(0, size / 8 - 8)));
    aux.read().unwrap().data(&told(0, 1024)).unwrap();
    assert!(writer.write(&trace(0, 64)));
    let (tail, head) = (1024, size + 448);
    for (position, length, field) in [
        (tail - 8, 8, "aux_offset"),
        (head + 8, 0, "aux_offset"),
        (u64::MAX, 8, "aux_offset"),
        (tail, head - tail + 8, "aux_size"),
        (head - 8, 16, "aux_size"),
        (tail, u64::MAX, "aux_size"),
    ] {
        let mut drain = aux.read().unwrap();
        let error = drain.data(&told(position, length)).unwrap_err();
        assert_eq!((error.kind.field(), error.position), (field, position), "{error}");
        drop(drain);
        assert_eq!(ring.page().aux_tail, tail, "nothing was taken");
    }
    let mut drain = aux.read().unwrap();
    assert_eq!(drain.data(&told(head, 0)).unwrap().first.len(), 0);
    let data = drain.data(&told(tail, head - tail)).unwrap();
    assert_eq!((data.first.len(), data.second.len()), ((size - 1024) as usize, 448));
    drop(drain);

    writer.corrupt(head + size + 8);
    let error = aux.read().unwrap_err();
    assert!(matches!(error.kind, RingErrorKind::Invalid { field: "aux_head", .. }), "{error}");
}

#[test]
fn a_ring_has_one_area() {
    let (ring, _writer) = loopback::ring(&Attr::default(), 1).unwrap();
    let (aux, _aux_writer) = loopback::aux(&ring, 1).unwrap();
    for _ in 0..2 {
        assert!(loopback::aux(&ring, 1).unwrap_err().to_string().contains("already"));
    }
    drop(aux);
    assert!(loopback::aux(&ring, 1).is_ok());
    assert_eq!(loopback::aux(&ring, 5).unwrap_err().fields(), ["pages"]);
}
