//! Source texts that a compiler embedded into the DWARF.

use std::cell::RefCell;

use gimli::{AttributeValue, Dwarf};
use hashbrown::HashMap;

use crate::budget::Metered;

/// The texts in `.debug_line_str` that were needed, by their offsets. The units of a file share those of headers; each text is read
/// once.
#[derive(Debug, Default)]
pub(super) struct EmbeddedSources<'a>(RefCell<HashMap<usize, Option<&'a [u8]>>>);

impl<'a> EmbeddedSources<'a> {
    /// Returns a text; `None` if it is empty, which means that there is none, or damaged.
    pub(super) fn text(
        &self,
        dwarf: &Dwarf<Metered<'a>>,
        value: &AttributeValue<Metered<'a>>,
    ) -> Option<&'a [u8]> {
        let read = || {
            let text = dwarf.attr_line_string(*value).ok()?;
            Some(text.slice()).filter(|text| !text.is_empty())
        };
        match value {
            AttributeValue::DebugLineStrRef(offset) => {
                *self.0.borrow_mut().entry(offset.0).or_insert_with(read)
            }
            _ => read(),
        }
    }
}
