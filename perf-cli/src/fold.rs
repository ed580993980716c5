//! `perfdata fold`: folded stacks.

use perf_export::fold;
use perf_profile::{SampleDetail, event_name};

use crate::args::fold::{FoldArgs, FoldMark, FoldRoot, WeightArg};
use crate::escape::OneLine;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::profile::{self, Profiles};
use crate::selection;

pub(crate) fn run(args: &FoldArgs) -> Result<Outcome, Failure> {
    let Profiles { profiles, outcome, .. } = profile::read(&(&args.profile).into(), SampleDetail::default())?;
    let is_marked = |kind| args.mark.iter().any(|&mark| mark == kind || mark == FoldMark::All);
    let mut options = fold::Options::default();
    options.root = match args.root {
        FoldRoot::Comm => fold::Root::Comm,
        FoldRoot::Pid => fold::Root::Pid,
        FoldRoot::Tid => fold::Root::Tid,
    };
    options.weight = match args.weight {
        WeightArg::Samples => perf_profile::Weight::Samples,
        WeightArg::Period => perf_profile::Weight::Period,
    };
    options.threads = args.profile.threads();
    options.mark_kernel = is_marked(FoldMark::Kernel);
    options.mark_inlined = is_marked(FoldMark::Inlined);
    options.mark_jit = is_marked(FoldMark::Jit);
    options.event = selection::first_event(&args.profile, &profiles).map(Into::into);
    let events = profiles.iter().flat_map(|profile| profile.events());
    let mut names: Vec<_> = events.map(|it| event_name(&it.event)).collect();
    if let Some(first) = options.event.clone().or_else(|| names.first().cloned()) {
        names.retain(|name| *name != first);
        if !names.is_empty() && !args.profile.off_cpu && !args.profile.lock_waits {
            let (first, other) = (OneLine(&first), OneLine(names.first().map_or(b"", |name| name)));
            say!("perfdata: only the samples of {first} are folded; --event {other} folds others");
        }
    }
    let mut output = Output::new();
    // Writing to memory cannot fail.
    let _ = fold::write(&profiles, &options, &mut output.buffer);
    output.flush()?;
    Ok(outcome)
}
