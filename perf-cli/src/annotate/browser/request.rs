//! Requests of the browser for annotations.

use perf_profile::annotation::Annotation;

/// A function that the browser asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionRequest {
    /// The file: its short name in a report, [`Annotation::dso`] if an annotation asks for a target of its instructions. Empty if
    /// it is not known.
    pub(crate) dso: Vec<u8>,
    /// The name of the function as people read it; empty if it is not known. It may be inlined into the function at
    /// [`offset`](Self::offset).
    pub(crate) symbol: Vec<u8>,
    /// An address in the function, as [`Annotation::start`]; `None` if a row of a report asks.
    pub(crate) address: Option<u64>,
    /// The offset in the file of the function's start, as [`Symbol::start`](perf_profile::Symbol::start); `None` if an
    /// annotation asks.
    pub(crate) offset: Option<u64>,
}

/// Finds the code and the samples of functions.
pub(crate) trait AnnotationProvider {
    /// Returns the annotation of a function. It may print: the browser gives the terminal back meanwhile.
    ///
    /// # Errors
    ///
    /// The reason why there is none, in one line.
    fn annotate(&mut self, request: &FunctionRequest) -> Result<Annotation, String>;
}
