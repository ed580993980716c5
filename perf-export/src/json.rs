//! JSON documents.

use std::io;

use serde::Serialize;

/// Writes JSON without blanks, and a newline.
pub(crate) fn write_json(document: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, document).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
