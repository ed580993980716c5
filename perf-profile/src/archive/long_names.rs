//! Names of entries of tar files that are longer than the field for them.

use std::io::{self, Read};
use std::path::PathBuf;

use perf_symbol::path_of;
use tar::EntryType;

/// The long name and the long target of a link that the next entry has. Both GNU's and POSIX's form is read.
#[derive(Default)]
pub(super) struct LongNames {
    pub(super) name: Option<PathBuf>,
    pub(super) target: Option<PathBuf>,
}

impl LongNames {
    /// Reads an entry that has a name of the next one; returns whether it is one.
    pub(super) fn read(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> io::Result<bool> {
        /// Linux has no longer path, and a form of it has no longer text.
        const LONGEST: u64 = 1 << 13;
        let kind = entry.header().entry_type();
        if !matches!(kind, EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader) {
            return Ok(false);
        }
        if entry.size() > LONGEST {
            return Err(io::Error::other(format!(
                "the archive has a name of {} bytes, more than {LONGEST}",
                entry.size()
            )));
        }
        let mut text = Vec::new();
        entry.read_to_end(&mut text)?;
        let path = |text: &[u8]| {
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            text.get(..end).map(path_of)
        };
        match kind {
            EntryType::GNULongName => self.name = path(&text),
            EntryType::GNULongLink => self.target = path(&text),
            _ => {
                for field in tar::PaxExtensions::new(&text) {
                    let field = field?;
                    match field.key_bytes() {
                        b"path" => self.name = path(field.value_bytes()),
                        b"linkpath" => self.target = path(field.value_bytes()),
                        _ => {}
                    }
                }
            }
        }
        Ok(true)
    }
}
