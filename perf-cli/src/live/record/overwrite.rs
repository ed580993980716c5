//! Recording into rings that keep the newest records. They are written when a snapshot is requested.

use std::path::PathBuf;

use perf_record::{Recorder, SidebandSink};

use super::output::CaptureOutput;
use super::until::StopConditions;
use super::{TICK, dump, start, written};
use crate::args::live::record::RecordArgs;
use crate::outcome::Failure;
use crate::output::say;

/// Records until the end. Writes a snapshot for each request, and one at the end.
pub(super) fn run(
    recorder: &mut Recorder,
    args: &RecordArgs,
    until: &mut StopConditions<'_>,
) -> Result<(), Failure> {
    let mut kept = SidebandSink::default();
    let (mut snapshots, mut is_full) = (0_u32, false);
    // Synthesize the records of the tasks that run now, because they may have ended when the recording ends.
    recorder.begin(&mut kept)?;
    start(recorder, args, until)?;
    loop {
        let due = until.look(recorder)?;
        recorder.drain(&mut kept)?;
        recorder.trim(&mut kept)?;
        if kept.is_full() && !is_full {
            is_full = true;
            say!(
                "perfdata: too many mappings and tasks to keep; newer ones will be missing from the snapshots"
            );
        }
        if due.end {
            return snapshot(recorder, args, &kept, args.output.clone(), false);
        }
        if due.snapshot {
            snapshots += 1;
            let mut path = args.output.clone().into_os_string();
            path.push(format!(".{snapshots}"));
            snapshot(recorder, args, &kept, path.into(), true)?;
            until.answer(due);
        }
        until.wait(recorder, TICK)?;
    }
}

/// Writes the contents of the rings to `path`. With `dumps`, also writes copies of the rings if the command line asks
/// for them.
fn snapshot(
    recorder: &mut Recorder,
    args: &RecordArgs,
    kept: &SidebandSink,
    path: PathBuf,
    dumps: bool,
) -> Result<(), Failure> {
    let (events, features) = (recorder.events().to_vec(), recorder.features().clone());
    let frozen = recorder.freeze()?;
    let copies = args.dump_rings.as_ref().filter(|_| dumps).map(|folder| (folder, frozen.dumps()));
    let snapshot = frozen.take()?;
    if let Some((folder, copies)) = copies {
        dump::rings(folder, (&events, &features), copies, args.quiet)?;
    }
    let mut out = CaptureOutput::create(&path, super::written_as(args))?;
    let summary = snapshot.write(kept, &mut out)?;
    out.publish()?;
    written(args, &out, &summary, &path);
    Ok(())
}
