//! `perfdata top`: where the time goes now.
//!
//! The rows are those of `perfdata report`, of the samples of the last while.

use crate::args::live::TopArgs;
use crate::live::in_memory;
use crate::outcome::{Failure, Outcome};
use crate::report::live_view::LiveView;

pub(super) fn run(args: &TopArgs) -> Result<Outcome, Failure> {
    let report = args.report().ok_or("the command line cannot be reported")?;
    let view = LiveView::new(args, report);
    in_memory::record(&args.sampled, args.keep, |recording| view.run(recording))
}
