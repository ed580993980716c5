//! `--aux` and `--aux-output`: hardware traces.

use std::fs;

use perf_abi::aux_area::AuxFlags;
use perf_abi::endian::LittleEndian;
use perf_parse::Record;
use perf_parse::record::Aux;

use crate::{PAGE, jsonl, made, number, ring, scratch};

/// The offset of `aux_head` in the control page; the fields after it follow.
const AUX_HEAD: usize = 1056;
const AUX_OFFSET: usize = 1072;
const AUX_SIZE: usize = 1080;
/// The number of bytes written to an AUX area of one page.
const HEAD: u64 = PAGE as u64 + 500;

fn aux(number: u64, aux_offset: u64, aux_size: u64, flags: AuxFlags) -> Vec<u8> {
    made::record::<LittleEndian>(number, &Record::Aux(Aux { aux_offset, aux_size, flags }))
}

/// Returns an AUX area in which no two bytes close to each other are equal.
fn area() -> Vec<u8> {
    (0..PAGE).map(|at| (at % 251) as u8).collect()
}

/// Returns the bytes of the area at `position`, one by one.
fn data(position: usize, length: usize) -> Vec<u8> {
    let area = area();
    (position..position + length).map(|at| area[at % PAGE]).collect()
}

/// Returns a ring with these records, without its AUX area.
fn with_aux(records: &[u8]) -> Vec<u8> {
    let page = PAGE as u64;
    made::dump::<LittleEndian>(0, records, &[(AUX_HEAD, HEAD), (AUX_OFFSET, 2 * page), (AUX_SIZE, page)])
}

fn attr() -> String {
    scratch("aux.attr", &made::attr_bytes::<LittleEndian>())
}

#[test]
fn what_aux_records_tell_of_is_written_end_to_end() {
    let records = [
        aux(0, 600, 500, AuxFlags::NONE),
        made::sample::<LittleEndian>(1),
        aux(2, 3900, 600, AuxFlags::TRUNCATED),
        aux(3, 4500, 0, AuxFlags::TRUNCATED),
    ];
    let ring_alone = with_aux(&records.concat());
    let expected = [data(600, 500), data(3900, 600)].concat();
    let (attr, out) = (attr(), scratch("aux.out", b"what was there before"));
    let whole = scratch("aux.ring", &[&*ring_alone, &area()].concat());
    let apart = scratch("aux-apart.ring", &ring_alone);
    let area = scratch("aux.area", &area());
    for args in [&[&*whole, "--attr", &attr][..], &[&apart, "--attr", &attr, "--aux", &area]] {
        let shown = jsonl(&[args, &["--aux-output", &out]].concat());
        assert_eq!((shown.status, shown.err), (0, format!("perfdata: {out}: 1100 bytes of 3 AUX records\n")));
        assert_eq!(shown.records.len(), 4, "the records are shown as well");
        assert!(fs::read(&out).unwrap() == expected, "{args:?}");
    }
}

#[test]
fn several_rings_are_written_one_behind_the_other() {
    let [first, second] = [(0, 600), (1, 3900)].map(|(number, position)| {
        let ring = with_aux(&aux(number, position, 300, AuxFlags::NONE));
        scratch(&format!("aux-{number}.ring"), &[ring, area()].concat())
    });
    let (attr, out) = (attr(), scratch("aux-several.out", b""));
    let run = ring(&[&second, &first, "--attr", &attr, "--aux-output", &out]);
    assert_eq!((run.status, run.err), (0, format!("perfdata: {out}: 600 bytes of 2 AUX records\n")));
    assert!(fs::read(&out).unwrap() == [data(3900, 300), data(600, 300)].concat());
}

#[test]
fn what_was_written_over_is_said_and_the_rest_written() {
    let records =
        [made::sample::<LittleEndian>(0), aux(1, 100, 450, AuxFlags::NONE), aux(2, 550, 50, AuxFlags::NONE)];
    let dump = scratch("aux-over.ring", &[with_aux(&records.concat()), area()].concat());
    let (attr, out) = (attr(), scratch("aux-over.out", b""));
    let shown = jsonl(&[&dump, "--attr", &attr, "--aux-output", &out]);
    // The offset of the AUX record in the dump.
    let at = PAGE + 32;
    let said = format!(
        "{dump}: {at:#x}: aux_offset: is 100, but 4496 bytes were written since, and the area holds only the last 4096"
    );
    assert_eq!(shown.status, 3);
    assert_eq!(shown.err.lines().filter(|line| line.contains("aux_offset")).count(), 1, "{}", shown.err);
    assert!(shown.err.contains(&said), "{}", shown.err);
    assert!(shown.err.contains(&format!("{out}: 50 bytes of 1 AUX records\n")), "{}", shown.err);
    assert_eq!(shown.records.len(), 3);
    let diagnostics = shown.account["diagnostics"].as_array().unwrap();
    assert_eq!((diagnostics.len(), number(&diagnostics[0], "offset")), (1, at as u64));
    assert!(fs::read(&out).unwrap() == data(550, 50));
}

#[test]
fn an_area_of_another_size_is_refused() {
    let apart = scratch("aux-size.ring", &with_aux(&aux(0, 600, 500, AuxFlags::NONE)));
    let area = scratch("aux-size.area", &area()[..PAGE / 2]);
    let (attr, out) = (attr(), scratch("aux-size.out", b""));
    let run = ring(&[&apart, "--attr", &attr, "--aux", &area, "--aux-output", &out]);
    assert_eq!(run.status, 3);
    assert!(run.err.contains("0x438: aux_size: is 4096"), "{}", run.err);
    assert_eq!(fs::read(&out).unwrap(), b"");
}

#[test]
fn data_that_is_nowhere_is_said() {
    let apart = scratch("aux-nowhere.ring", &with_aux(&aux(0, 600, 500, AuxFlags::NONE)));
    let (attr, out) = (attr(), scratch("aux-nowhere.out", b""));
    let run = ring(&[&apart, "--attr", &attr, "--aux-output", &out]);
    assert_eq!(run.status, 3);
    assert!(run.err.contains("0x1000: "), "{}", run.err);
    assert!(run.err.contains("--aux"), "{}", run.err);
}
