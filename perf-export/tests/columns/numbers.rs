//! Numbers that one table has of another, stacks among them, and the names of captures.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{RecordBatch, StructArray};
use perf_export::columns::{Options, Table};
use perf_parse::Reader;

use crate::{Tables, corpus};

/// Tests that all numbers of one column are in another one. Returns how many different ones there are.
fn all_in(tables: &Tables, from: (Table, &str), to: (Table, &str)) -> usize {
    let there: BTreeSet<_> = tables.numbers(to.0, to.1).into_iter().collect();
    assert_eq!(there.len(), tables.numbers(to.0, to.1).len(), "{to:?} has a number twice");
    let used: BTreeSet<_> = tables.numbers(from.0, from.1).into_iter().filter(Option::is_some).collect();
    assert!(used.is_subset(&there), "{from:?}: {:?}", used.difference(&there).next());
    used.len()
}

/// pandas refuses a dictionary that has a word twice.
fn words_are_there_once(tables: &Tables) {
    for column in tables.0.values().flatten().flat_map(RecordBatch::columns) {
        let Some(column) = column.as_any_dictionary_opt() else { continue };
        let words: Vec<_> = column.values().as_string::<i32>().iter().collect();
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{words:?}");
    }
}

fn numbers_belong_together(tables: &Tables) {
    words_are_there_once(tables);
    let stacks = all_in(tables, (Table::Samples, "stack_id"), (Table::Stacks, "stack_id"));
    assert_eq!(stacks, tables.0[&Table::Stacks].iter().map(RecordBatch::num_rows).sum::<usize>());
    all_in(tables, (Table::Samples, "thread_key"), (Table::Threads, "thread_key"));
    all_in(tables, (Table::Samples, "process_key"), (Table::Processes, "process_key"));
    all_in(tables, (Table::Samples, "event_id"), (Table::Events, "event_id"));
    all_in(tables, (Table::Frames, "dso_id"), (Table::Dsos, "dso_id"));
    all_in(tables, (Table::Stacks, "leaf"), (Table::Frames, "frame_id"));
    let frames: BTreeSet<_> = tables.numbers(Table::Frames, "frame_id").into_iter().flatten().collect();
    let lists = tables.lists(Table::Stacks, "frame_ids");
    let ends = tables.numbers(Table::Stacks, "leaf").into_iter().zip(tables.numbers(Table::Stacks, "root"));
    for ((list, (leaf, root)), depth) in lists.iter().zip(ends).zip(tables.numbers(Table::Stacks, "depth")) {
        assert!(list.iter().all(|id| frames.contains(id)));
        assert_eq!((list.first(), list.last()), (leaf.as_ref(), root.as_ref()));
        assert_eq!(depth, Some(list.len() as i64));
    }
}

#[test]
fn numbers_of_one_table_are_in_the_other() {
    for path in corpus() {
        let Ok(reader) = Reader::open(&path) else { continue };
        numbers_belong_together(&Tables::of(&reader, Options::default()));
    }
}

/// The stacks of all samples, as addresses.
fn stacks_of(tables: &Tables) -> Vec<Vec<i64>> {
    let ips: BTreeMap<_, _> = tables
        .numbers(Table::Frames, "frame_id")
        .into_iter()
        .zip(tables.numbers(Table::Frames, "file_offset"))
        .collect();
    let stacks: BTreeMap<_, _> = tables
        .numbers(Table::Stacks, "stack_id")
        .into_iter()
        .zip(tables.lists(Table::Stacks, "frame_ids"))
        .collect();
    let of_sample = |id: Option<i64>| match id {
        None => Vec::new(),
        id => stacks[&id].iter().map(|&frame| ips[&Some(frame)].unwrap()).collect(),
    };
    tables.numbers(Table::Samples, "stack_id").into_iter().map(of_sample).collect()
}

#[test]
fn stacks_that_are_written_in_parts_are_the_same_stacks() {
    let reader = Reader::open(testdata::path("callchain.data")).unwrap();
    let whole = Tables::of(&reader, Options::default());
    let mut options = Options::default();
    options.limits.frames = 200;
    options.limits.stack_nodes = 200;
    let parts = Tables::of(&reader, options);
    numbers_belong_together(&parts);
    let rows = |tables: &Tables| tables.numbers(Table::Frames, "frame_id").len();
    assert!(rows(&parts) > rows(&whole), "the limits were not reached");
    assert_eq!(stacks_of(&parts), stacks_of(&whole));
    for column in ["stacks", "stacks_rooted", "frames", "frames_mapped"] {
        assert_eq!(parts.sum(Table::Captures, column), whole.sum(Table::Captures, column), "{column}");
    }
}

#[test]
fn flat_stacks_are_the_same_stacks() {
    let reader = Reader::open(testdata::path("callchain.data")).unwrap();
    let interned = Tables::of(&reader, Options::default());
    let mut options = Options::default();
    options.flat = true;
    options.limits.frames = 300;
    let flat = Tables::of(&reader, options);
    assert!(flat.numbers(Table::Samples, "stack_id").iter().all(Option::is_none));
    assert!(
        flat.numbers(Table::Stacks, "stack_id").is_empty()
            && flat.numbers(Table::Frames, "frame_id").is_empty()
    );
    let offsets = flat.columns(Table::Samples, "stack").flat_map(|column| {
        let lists = column.as_list::<i32>().iter().map(|it| match it {
            None => Vec::new(),
            Some(frames) => {
                let frames: &StructArray = frames.as_struct();
                frames.column_by_name("file_offset").unwrap().as_primitive::<Int64Type>().values().to_vec()
            }
        });
        lists.collect::<Vec<_>>()
    });
    assert_eq!(offsets.collect::<Vec<_>>(), stacks_of(&interned));
}

#[test]
fn a_capture_has_one_name_and_other_captures_others() {
    let mut names = BTreeMap::new();
    // The handmade ones are damaged copies of each other.
    let recorded = testdata::captures()
        .into_iter()
        .filter(|path| testdata::path("plain.data").parent() == path.parent());
    for path in recorded {
        let Ok(reader) = Reader::open(&path) else { continue };
        let tables = Tables::of(&reader, Options::default());
        let name = tables.texts(Table::Captures, "capture").remove(0).unwrap();
        assert_eq!((name.len(), name.chars().all(|it| it.is_ascii_hexdigit())), (32, true));
        let again = Reader::open(&path).unwrap();
        assert_eq!(
            Tables::of(&again, Options::default()).texts(Table::Captures, "capture"),
            [Some(name.clone())]
        );
        if let Some(other) = names.insert(name, path.clone()) {
            panic!("{} and {}", path.display(), other.display());
        }
    }
    // As a stream it has a name before its first row.
    let bytes = std::fs::read(testdata::path("tracing.pipe.data")).unwrap();
    let reader = Reader::stream(std::io::Cursor::new(bytes)).unwrap();
    let tables = Tables::of(&reader, Options::default());
    let of = |table| tables.texts(table, "capture").into_iter().collect::<BTreeSet<_>>();
    assert_eq!(of(Table::Samples), of(Table::Captures));
}
