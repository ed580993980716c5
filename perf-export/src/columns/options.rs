//! Options of a capture's tables.

use super::context::Redaction;
use super::samples::With;
use perf_profile::Limits;
use perf_profile::Naming;

/// What the tables have.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The path of the capture, for the table `captures`.
    pub path: Option<Vec<u8>>,
    /// Whether stacks are written into the samples, instead of into tables of their own.
    pub flat: bool,
    /// The optional columns that are filled.
    pub with: With,
    /// What is left out.
    pub redaction: Redaction,
    /// How many frames of a stack are kept, from the innermost on. `None` keeps all.
    pub max_stack: Option<usize>,
    /// How functions are found.
    pub naming: Naming,
    /// How many frames and stack nodes are kept before they are written; the other limits have no effect. A stack that comes
    /// again afterwards gets another number.
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
            with: With::default(),
            redaction: Redaction::default(),
            max_stack: None,
            naming: Naming::default(),
            limits,
        }
    }
}
