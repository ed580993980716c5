//! Columns that are left out, or hashed.

use std::collections::BTreeSet;

use arrow_array::StructArray;
use arrow_array::cast::AsArray;
use perf_export::columns::{Column, ColumnKind, Options, Table};
use perf_parse::Reader;

use crate::{Tables, texts_of};

/// Tests each text of each table.
fn each_text(tables: &Tables, check: &dyn Fn(Table, &Column, &str)) {
    for &table in Table::ALL {
        for column in table.columns() {
            let texts: Vec<_> = match column.kind {
                ColumnKind::Text | ColumnKind::Word => tables.texts(table, column.name),
                ColumnKind::Texts => tables
                    .columns(table, column.name)
                    .flat_map(|lists| texts_of(lists.as_list::<i32>().values()))
                    .collect(),
                ColumnKind::Structures(_) => tables
                    .columns(table, column.name)
                    .flat_map(|lists| {
                        let items: &StructArray = lists.as_list::<i32>().values().as_struct();
                        items
                            .columns()
                            .iter()
                            .filter(|it| it.as_string_opt::<i32>().is_some())
                            .flat_map(texts_of)
                            .collect::<Vec<_>>()
                    })
                    .collect(),
                _ => continue,
            };
            texts.into_iter().flatten().for_each(|text| check(table, column, &text));
        }
    }
}

#[test]
fn what_is_redacted_is_in_no_table() {
    for (capture, flat) in
        [("everything.data", false), ("tracing.pipe.data", false), ("callchain.data", true)]
    {
        let reader = Reader::open(testdata::path(capture)).unwrap();
        let mut options = Options::default();
        options.flat = flat;
        options.path = Some(b"/secret/of/the/user.data".to_vec());
        options.with.trace = true;
        let open = Tables::of(&reader, options.clone());
        let comms: BTreeSet<_> = open
            .texts(Table::Samples, "comm")
            .into_iter()
            .chain(open.texts(Table::Threads, "comm"))
            .flatten()
            .collect();
        assert!(!comms.is_empty());
        let mut paths = 0;
        each_text(&open, &|_, _, _| {});
        for table in [Table::Mmaps, Table::Captures] {
            paths += open.texts(table, "path").iter().flatten().filter(|path| path.starts_with('/')).count();
        }
        assert!(paths > 3, "{capture}");
        let mut dropped = options.clone();
        dropped.redaction.comm = true;
        dropped.redaction.cmdline = true;
        dropped.redaction.paths = true;
        each_text(&Tables::of(&reader, dropped), &|table, column, text| {
            let is_path = text.starts_with('/') && text != "//anon";
            assert!(!text.contains("/secret") && !is_path, "{table}.{}: {text}", column.name);
            assert!(!["comm", "command_line", "trace"].contains(&column.name), "{table}.{}", column.name);
        });
        let mut hashed = options;
        hashed.redaction.salt = Some("salt".into());
        let hashed = Tables::of(&reader, hashed);
        each_text(&hashed, &|table, column, text| {
            let is_other = text == "//anon" || ["command_line", "comm"].contains(&column.name);
            let is_path = text.starts_with('/') && !is_other;
            assert!(!is_path, "{table}.{}: {text}", column.name);
        });
        let different =
            |tables: &Tables| tables.texts(Table::Mmaps, "path").into_iter().collect::<BTreeSet<_>>();
        assert_eq!(different(&hashed).len(), different(&open).len());
        assert_ne!(different(&hashed), different(&open));
    }
}
