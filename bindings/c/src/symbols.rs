//! The finder of stacks and names of a capture.

use perf_profile::Symbols;

use crate::capture::perfdata_capture;
use crate::error::perfdata_error;
use crate::names::{self, perfdata_name_options};

/// Returns the finder of stacks and names that options of the program ask for.
///
/// # Safety
///
/// As for [`names::read`].
///
/// # Errors
///
/// Those of [`names::read`].
pub(crate) unsafe fn symbols(
    capture: &perfdata_capture,
    options: *const perfdata_name_options,
) -> Result<Symbols, perfdata_error> {
    // SAFETY: the caller passes options.
    let (mut options, has_names) = unsafe { names::read(options) }?;
    let features = capture.reader().features();
    // A capture that does not relate its clock to the wall clock was recorded before its file was written.
    options.recorded_until = perf_profile::recorded_until(features).or(capture.written());
    let symbols = Symbols::new(features, options);
    Ok(if has_names { symbols } else { symbols.without_names() })
}
