//! What decodes the fields of samples that are data or code of a program.

use perf_annotate::InstructionReader;
use perf_profile::tracepoints::TracepointTexts;

/// What decodes the fields of samples that are data of a program, or its code.
#[derive(Clone, Debug)]
pub(super) struct FieldDecoders<'a> {
    pub(super) traces: TracepointTexts<'a>,
    /// `None` unless instructions are printed.
    pub(super) instructions: Option<InstructionReader>,
}
