//! The rows that are expanded, described so that they can be expanded in other rows of the same columns.

use std::collections::{HashMap, HashSet};

/// The branches of a row that are expanded: each by the functions that begin it and those above, as text.
pub(super) type OpenBranches = HashSet<Vec<u8>>;

/// The rows that are expanded, by the text of their keys.
#[derive(Debug, Default)]
pub(super) struct OpenRows(pub(super) HashMap<Vec<u8>, OpenBranches>);
