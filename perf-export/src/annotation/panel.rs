//! The panel that shows an annotated function, in all pages that have one.

use std::io::{self, Write};

use serde_json::Value;

use crate::html::json_text;

pub(crate) const HTML: &str = include_str!("panel.html");
pub(crate) const STYLE: &str = include_str!("panel.css");
/// Parts of the script of a page, after those that all pages have.
pub(crate) const SCRIPT: [&str; 7] = [
    include_str!("data.js"),
    include_str!("lines.js"),
    include_str!("arrows.js"),
    include_str!("cells.js"),
    include_str!("overview.js"),
    include_str!("panel.js"),
    include_str!("keys.js"),
];

/// Writes the element that has the data of the panel.
pub(crate) fn write_data(data: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<script type=\"application/json\" id=\"data-annotations\">{}</script>", json_text(data))
}
