//! A capture in several files, as `perf record --threads` writes it: its records are those of each file in turn, also
//! in time order, and `perfdata` reads the folder in the same way as a file.

use std::fs;

use perf_parse::Reader;
use perf_parse::event::RecordPosition;
use perf_parse::file::{EventRecords, Mode};

use super::command_line::{Folder, check};
use super::shape::Shape;
use super::walk::walk;

/// Maximum size of all files in bytes.
const MOST: usize = 1 << 16;

/// The first byte of `data` has the number of files in addition to the first, and the number of consecutive records
/// that go to the same file. The other bytes are a file whose records are distributed.
pub fn run(data: &[u8]) -> bool {
    let Some((&choice, main)) = data.split_first() else { return false };
    let (count, run) = (usize::from(choice % 4) + 1, usize::from(choice / 4 % 8) + 1);
    let mut others = vec![Vec::new(); count];
    for (index, record) in Shape::of(main).records.into_iter().enumerate() {
        if let Some(other) = others.get_mut(index / run % count) {
            other.extend_from_slice(main.get(record).unwrap_or_default());
        }
    }
    // A killed writer leaves the header in this state.
    if choice & 0x80 != 0
        && let Some(last) = others.last_mut()
    {
        last.truncate(last.len() / 2);
    }
    if main.len() + others.iter().map(Vec::len).sum::<usize>() > MOST {
        return false;
    }
    let is_file = Reader::new(main).is_ok_and(|reader| read(&reader, main, &others));
    if is_file {
        by_perfdata(main, &others);
    }
    is_file
}

/// A record: its place and its bytes.
type Given = (RecordPosition, Vec<u8>);

fn read(reader: &Reader<'_>, main: &[u8], others: &[Vec<u8>]) -> bool {
    if !matches!(reader.mode(), Mode::File(_)) {
        return false;
    }
    let size = main.len() + others.iter().map(Vec::len).sum::<usize>();
    let mut expected = records(&mut reader.records(), size);
    for (number, other) in (1..).zip(others) {
        // Has the same events and no other records.
        let alone = Reader::new(main).expect("it was opened").with_records(other);
        let alone = records(&mut alone.records(), size).into_iter();
        expected.extend(alone.map(|(place, bytes)| (RecordPosition { data_file: number, ..place }, bytes)));
    }
    let mut folder = Reader::new(main).expect("it was opened");
    others.iter().for_each(|other| folder.add_data(other));
    let mut walk = folder.records();
    assert_eq!(records(&mut walk, size), expected);
    assert_eq!(walk.reached().data_file, others.len());
    let mut by_time = records(&mut folder.records().in_time_order(), size);
    by_time.sort();
    expected.sort();
    assert_eq!(by_time, expected, "time order gives the same records");
    true
}

fn records(records: &mut EventRecords<'_>, size: usize) -> Vec<Given> {
    walk(records, size, |record| (record.position(), record.raw().as_bytes().to_vec()))
}

/// Passes the files to `perfdata` in a folder.
fn by_perfdata(main: &[u8], others: &[Vec<u8>]) {
    let folder = Folder::new();
    let capture = folder.0.join("capture");
    fs::create_dir_all(&capture).expect("a folder can be made");
    fs::write(capture.join("data"), main).expect("a file can be written");
    for (number, other) in others.iter().enumerate() {
        fs::write(capture.join(format!("data.{number}")), other).expect("a file can be written");
    }
    let size = main.len() + others.iter().map(Vec::len).sum::<usize>();
    check(&folder.0, &capture, size, None);
}
