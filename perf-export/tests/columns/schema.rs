//! `SCHEMA.md` describes every column.

use std::path::Path;

use perf_export::columns::{Column, ColumnKind, Table};

/// The lines of a table in `SCHEMA.md`.
fn described(columns: &[Column], prefix: &str, out: &mut String) {
    for column in columns {
        let null = if column.is_nullable { "yes" } else { "" };
        let line = format!(
            "| `{prefix}{}` | {} | {} | {null} | {} |\n",
            column.name,
            column.kind.name(),
            column.unit,
            column.doc
        );
        out.push_str(&line);
        if let ColumnKind::Structures(columns) = column.kind {
            described(columns, &format!("{prefix}{}.", column.name), out);
        }
    }
}

/// `BLESS=1` writes the tables into the file.
#[test]
fn schema_md_describes_every_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("SCHEMA.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut new = text.clone();
    for &table in Table::ALL {
        let (start, end) = (format!("<!-- columns of {table} -->\n"), format!("<!-- end of {table} -->"));
        let mut lines = String::from("\n| column | type | unit | null | meaning |\n|---|---|---|---|---|\n");
        described(table.columns(), "", &mut lines);
        lines.push('\n');
        let from = new.find(&start).unwrap_or_else(|| panic!("{start}")) + start.len();
        let to = new.find(&end).unwrap_or_else(|| panic!("{end}"));
        new.replace_range(from..to, &lines);
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &new).unwrap();
        return;
    }
    assert!(text == new, "SCHEMA.md differs from the columns; write it with BLESS=1");
}
