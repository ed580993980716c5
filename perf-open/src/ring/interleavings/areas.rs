//! AUX areas: an AUX record in the ring, and the data that it reports.

use alloc::sync::Arc;

use loom::thread;
use perf_abi::attr::Attr;
use perf_abi::record::RecordType;
use perf_parse::Record;

use super::{Reached, bytes, every_interleaving, positions};
use crate::ring::Ring;
use crate::ring::aux_area::AuxMapping;
use crate::ring::loopback::{aux_of_bytes, ring_of_bytes};
use crate::sys::consumer::ControlArea;
use crate::sys::kernel_writer::header;

/// Bytes of the area: two pieces of data.
const AREA: usize = 32;
/// Words of a piece, whose word `n` is 100 more than its number.
const PIECE: u64 = 2;
const PIECES: u64 = 3;

/// Returns the AUX record for the piece at `position`.
fn reported(position: u64) -> Vec<u8> {
    bytes(&[u64::from_ne_bytes(header(RecordType::AUX, 32)), position, 8 * PIECE, 0])
}

/// Takes all AUX records and their data. Returns the words of the data.
fn read(ring: &mut Ring, area: &mut AuxMapping) -> Vec<u64> {
    let mut words = Vec::new();
    let mut drain = ring.read().unwrap();
    while let Some(record) = drain.next_with_event() {
        let Record::Aux(reported) = record.unwrap().decode().unwrap() else { panic!("not AUX") };
        let mut unread = area.read().unwrap();
        let data = unread.data(&reported).unwrap();
        let data = [data.first, data.second].concat();
        words.extend(data.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())));
    }
    words
}

#[test]
fn the_data_of_a_record_is_there_and_stays_until_it_is_released() {
    let reused = Arc::new(Reached::default());
    let is_reused = reused.clone();
    every_interleaving(move || {
        let (mut ring, mut writer) = ring_of_bytes(&Attr::default(), 128).unwrap();
        let (mut area, mut hardware) = aux_of_bytes(&ring, AREA).unwrap();
        let writing = thread::spawn(move || {
            let mut words = Vec::new();
            for piece in 0..PIECES {
                let position = 8 * words.len() as u64;
                let data: Vec<u64> = (0..PIECE).map(|word| 100 * piece + word).collect();
                // Data without room is lost. The ring has room for all records.
                if hardware.write(&bytes(&data)) {
                    assert!(writer.write(&reported(position)));
                    words.extend(data);
                }
            }
            words
        });
        let mut seen = read(&mut ring, &mut area);
        let written = writing.join().unwrap();
        seen.extend(read(&mut ring, &mut area));
        assert_eq!(seen, written);
        assert_eq!(positions(&ring, ControlArea::Aux), [8 * written.len() as u64; 2]);
        is_reused.note(8 * written.len() > AREA);
    });
    assert!(reused.times() > 0);
}
