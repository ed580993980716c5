//! `perfdata lock`: waits for locks, as `perf lock contention` prints them, and more.

mod contention;
mod waits;

use crate::args::lock::{LockArgs, LockVerb};
use crate::outcome::{Failure, Outcome};

pub(crate) fn run(args: &LockArgs) -> Result<Outcome, Failure> {
    let refused = |verb: &str, instead: &str| {
        Err(Failure(format!("{verb}: perfdata lock does not have this verb; {instead}")))
    };
    match &args.verb {
        LockVerb::Contention(args) => {
            crate::input::read(&args.file, |reader, memory| contention::run(&reader, memory, args))
        }
        LockVerb::Waits(args) => {
            crate::input::read(&args.file, |reader, memory| waits::run(&reader, memory, args))
        }
        LockVerb::Record(_) => refused("record", "use perfdata record --lock"),
        LockVerb::Info(_) => refused("info", "use perfdata info, or perfdata lock contention"),
        LockVerb::Report(_) => refused(
            "report",
            "it needs the tracepoints of a kernel for debugging (CONFIG_LOCK_STAT); use perfdata lock contention",
        ),
        LockVerb::Script(_) => refused("script", "use perfdata script"),
    }
}
