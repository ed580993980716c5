//! Options of a capture's tables.

use perf_profile::{Limits, NamingOptions};

use super::context::Redaction;
use super::samples::ExtraColumns;

/// Options of a capture's tables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The path of the capture, for the table `captures`.
    pub path: Option<Vec<u8>>,
    /// Writes stacks into the samples, instead of into tables of their own.
    pub flat: bool,
    /// The optional columns that are filled.
    pub with: ExtraColumns,
    /// Personal data that are left out, or hashed.
    pub redaction: Redaction,
    /// Maximum number of frames per stack, innermost first; `None` for all.
    pub max_stack: Option<usize>,
    /// Options for the names of functions.
    pub naming: NamingOptions,
    /// Maximum number of frames and stack nodes in memory before they are written; the other limits have no effect. A stack that
    /// recurs afterwards gets another id.
    pub limits: Limits,
}

/// All stacks with their names, in tables of their own, in about 100 MB.
impl Default for Options {
    fn default() -> Self {
        let mut limits = Limits::default();
        (limits.frames, limits.stack_nodes) = (1 << 17, 1 << 19);
        Self {
            path: None,
            flat: false,
            with: ExtraColumns::default(),
            redaction: Redaction::default(),
            max_stack: None,
            naming: NamingOptions::default(),
            limits,
        }
    }
}
