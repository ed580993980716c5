//! Names that are kept once each.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::demangle::demangle;

/// Names that are kept once each, with their demangled forms.
#[derive(Debug, Default)]
pub(crate) struct Names {
    shown: HashMap<Arc<[u8]>, Arc<[u8]>>,
    /// Texts that are not demangled.
    texts: HashSet<Arc<[u8]>>,
}

impl Names {
    /// Returns a name, and as people read it. With a limit of 0, it is not demangled.
    pub(crate) fn get(&mut self, name: &[u8], limit: usize) -> (Arc<[u8]>, Arc<[u8]>) {
        if limit == 0 {
            let name = self.share(name);
            return (Arc::clone(&name), name);
        }
        if let Some((raw, shown)) = self.shown.get_key_value(name) {
            return (Arc::clone(raw), Arc::clone(shown));
        }
        let raw: Arc<[u8]> = name.into();
        let shown = match demangle(name, limit) {
            std::borrow::Cow::Borrowed(_) => Arc::clone(&raw),
            std::borrow::Cow::Owned(shown) => shown.into(),
        };
        self.shown.insert(Arc::clone(&raw), Arc::clone(&shown));
        (raw, shown)
    }

    /// Returns a text that is not demangled, such as a path.
    pub(crate) fn share(&mut self, text: &[u8]) -> Arc<[u8]> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let shared: Arc<[u8]> = text.into();
        self.texts.insert(Arc::clone(&shared));
        shared
    }

    pub(crate) fn clear(&mut self) {
        self.shown.clear();
        self.texts.clear();
    }
}
