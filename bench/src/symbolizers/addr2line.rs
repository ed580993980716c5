//! The crate addr2line, with its own loader of files. Functions without DWARF have the name of their symbol.

use std::path::Path;

use addr2line::Loader;
use addr2line::gimli::Reader;

use super::{OnFunction, OpenedFile};
use crate::failure::Failure;

pub(super) struct DwarfContext(Loader);

impl DwarfContext {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        Loader::new(path).map(Self).map_err(|error| Failure::of(path.display(), error))
    }

    pub(super) fn text(&self) -> Option<std::ops::Range<u64>> {
        self.0.get_section_range(b".text").map(|range| range.begin..range.end)
    }
}

impl OpenedFile for DwarfContext {
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure> {
        let failure = |error| Failure(format!("{error}"));
        for (number, &address) in addresses.iter().enumerate() {
            let mut frames = self.0.find_frames(address).map_err(failure)?;
            let mut has_function = false;
            while let Some(frame) = frames.next()? {
                let line = frame.location.and_then(|location| location.line).unwrap_or_default();
                let name = frame.function.as_ref().map(|function| function.name.to_slice()).transpose()?;
                has_function |= name.is_some();
                each(number, name.as_deref().unwrap_or_default(), line);
            }
            if !has_function && let Some(symbol) = self.0.find_symbol(address) {
                each(number, symbol.as_bytes(), 0);
            }
        }
        Ok(())
    }
}
