//! What an annotation has, and its limits.

use crate::disassembly::Syntax;
use crate::source::SourceOptions;

/// What an annotation has.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AnnotateOptions {
    /// Where source files are looked for.
    pub source: SourceOptions,
    /// How instructions of x86 are written.
    pub syntax: Syntax,
    /// Limits of what captures and files may make grow.
    pub limits: AnnotateLimits,
}

/// Limits of what an annotator keeps, and of a function that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotateLimits {
    /// Number of different addresses of samples. Samples at further ones are counted only: see
    /// [`Annotator::beyond`](crate::Annotator::beyond).
    pub addresses: usize,
    /// Number of bytes of a function. The rest is left out.
    pub code: u64,
    /// Number of functions that are inlined into a function, counted once for each place. Instructions of further ones are those
    /// of the function that they are inlined into.
    pub inlined: usize,
    /// Number of different branches of branch stacks. Further ones are not counted.
    pub branches: usize,
    /// Number of bytes of code that the kernel wrote (`TEXT_POKE`). Further changes are left out.
    pub text_pokes: usize,
}

impl Default for AnnotateLimits {
    fn default() -> Self {
        Self { addresses: 1 << 22, code: 1 << 24, inlined: 1 << 16, branches: 1 << 20, text_pokes: 1 << 26 }
    }
}
