//! Source texts that were looked for.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_session::BuildId;

use super::{Found, SourceLimits, SourceText};

/// A text; `None` if it was not found.
type Answer = Option<Arc<SourceText>>;

/// The texts that were found, and the paths that were looked for in vain.
#[derive(Debug, Default)]
pub(super) struct SourceCache {
    /// Those of this machine, by their recorded paths.
    local: HashMap<Box<[u8]>, Answer>,
    embedded: HashMap<(Box<[u8]>, Option<BuildId>), Answer>,
    fetched: HashMap<(Box<[u8]>, BuildId), Answer>,
    /// Number of bytes of all texts.
    size: u64,
}

impl SourceCache {
    /// Returns a text of this machine. `find` gets the number of bytes that it may have.
    pub(super) fn local(
        &mut self,
        path: &[u8],
        limits: &SourceLimits,
        find: impl FnOnce(u64) -> Option<Found>,
    ) -> Answer {
        if let Some(answer) = self.local.get(path) {
            return answer.clone();
        }
        let answer = self.answer(limits, find)?;
        self.local.insert(path.into(), answer.clone());
        answer
    }

    /// Returns a text that is embedded. `is_it` returns whether a text is the embedded one: programs without a build id may have
    /// different texts for a path.
    pub(super) fn embedded(
        &mut self,
        path: &[u8],
        build_id: Option<BuildId>,
        limits: &SourceLimits,
        is_it: impl FnOnce(&SourceText) -> bool,
        find: impl FnOnce(u64) -> Option<Found>,
    ) -> Answer {
        let key: (Box<[u8]>, _) = (path.into(), build_id);
        let answer = self.embedded.get(&key);
        if let Some(answer) = answer.filter(|answer| answer.as_deref().is_none_or(is_it)) {
            return answer.clone();
        }
        let answer = self.answer(limits, find)?;
        self.embedded.insert(key, answer.clone());
        answer
    }

    /// Returns a text of a server.
    pub(super) fn fetched(
        &mut self,
        path: &[u8],
        build_id: BuildId,
        limits: &SourceLimits,
        find: impl FnOnce(u64) -> Option<Found>,
    ) -> Answer {
        let key: (Box<[u8]>, _) = (path.into(), build_id);
        if let Some(answer) = self.fetched.get(&key) {
            return answer.clone();
        }
        let answer = self.answer(limits, find)?;
        self.fetched.insert(key, answer.clone());
        answer
    }

    /// Looks for a text within the limits; `None` if no further one is looked for.
    fn answer(&mut self, limits: &SourceLimits, find: impl FnOnce(u64) -> Option<Found>) -> Option<Answer> {
        let count = self.local.len() + self.embedded.len() + self.fetched.len();
        if count >= limits.files {
            return None;
        }
        let left = limits.total.saturating_sub(self.size);
        let found = find(limits.file.min(left)).filter(|found| found.bytes.len() as u64 <= limits.file);
        let text = found.map(|found| SourceText::new(found, limits.lines));
        let text = text.filter(|text| text.size() <= left).map(Arc::new);
        self.size = self.size.saturating_add(text.as_deref().map_or(0, SourceText::size));
        Some(text)
    }
}
