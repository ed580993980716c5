//! `perfdata top`: where the time goes now.
//!
//! The recording is that of `perfdata record`, into memory; the rows are those of `perfdata report`, of the samples of the last
//! while. One thread reads the rings, another one counts and shows, so that slow work of the latter loses nothing.

mod own_cost;
mod recording;

use std::sync::mpsc;
use std::thread;

use perf_open::limits;
use perf_record::Targets;

use crate::args::live::TopArgs;
use crate::live::record;
use crate::outcome::{Failure, Outcome};
use crate::report::live_view::LiveView;
use recording::{LiveRecording, serve};

/// The stack of the thread that counts: names of deeply nested types need more than the usual 2 MiB.
const STACK: usize = 8 << 20;

pub(super) fn run(args: &TopArgs) -> Result<Outcome, Failure> {
    let mut recorded = args.record().ok_or("the command line cannot be recorded")?;
    let observed = &args.observed;
    let names_none = observed.pid.is_empty() && observed.tid.is_empty() && observed.cpu.is_none();
    if names_none && !observed.all_cpus && args.uid.is_none() && args.command.is_empty() && !may_observe_all()
    {
        let own = rustix::process::geteuid().as_raw();
        if matches!(Targets::user(own)?, Targets::Threads(threads) if threads.is_empty()) {
            return Err("you have no other process, and only root may observe those of others".into());
        }
        recorded.uid = Some(own.to_string());
    }
    let report = args.report().ok_or("the command line cannot be reported")?;
    let view = LiveView::new(args, report);
    record::record(&recorded, |recorder, until, _| {
        record::start(recorder, &recorded, until)?;
        let (requests, asked) = mpsc::channel();
        let mut recording = LiveRecording::new(requests, until.signals.waker()?);
        let view = &view;
        thread::scope(|scope| {
            // The recorder ends when the thread drops its end of the requests.
            let shown = thread::Builder::new()
                .name("top".to_owned())
                .stack_size(STACK)
                .spawn_scoped(scope, move || view.run(&mut recording))?;
            let served = serve(recorder, until, asked, args.keep);
            let shown = shown.join().map_err(|_| Failure("the view panicked".to_owned()))?;
            served.and(shown)
        })
    })
}

/// Returns whether this user may observe the whole machine.
fn may_observe_all() -> bool {
    rustix::process::geteuid().is_root() || limits::paranoid().is_ok_and(|level| level <= 0)
}
