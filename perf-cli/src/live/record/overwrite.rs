//! Recording into rings that keep the newest records. They are written when a snapshot is requested.

use std::path::PathBuf;

use perf_abi::record::RecordType;
use perf_open::ring;
use perf_open::{Overwrite, Ring};

use super::capture::Capture;
use super::session::Session;
use super::{Until, start};
use crate::Failure;
use crate::output::say;

/// The maximum number of bytes of records of mappings, names and tasks that are kept: hours on a busy machine.
const MAX_KEPT: usize = 256 << 20;

/// The records of mappings, names and tasks since the start. Every snapshot needs all of them.
#[derive(Debug, Default)]
struct Kept {
    records: Vec<u8>,
    is_full: bool,
}

/// Records until the end. Writes a snapshot for each request, and one at the end.
pub(super) fn run(
    session: &mut Session,
    capture: &Capture<'_>,
    until: &mut Until<'_>,
) -> Result<(), Failure> {
    let mut kept = Kept::default();
    let mut snapshots = 0_u32;
    // Synthesize the records of the tasks that run now, because they may have ended when the recording ends.
    capture.synthesize(&mut |record| {
        kept.records.extend_from_slice(record);
        Ok(())
    })?;
    start(session, capture.args, until)?;
    loop {
        let is_over = until.is_over()?;
        if is_over {
            session.disable()?;
        }
        kept.take(&mut session.rings)?;
        if is_over {
            return snapshot(session, capture, &kept, capture.args.output.clone(), false);
        }
        if until.signals.takes_snapshot() {
            snapshots += 1;
            let mut path = capture.args.output.clone().into_os_string();
            path.push(format!(".{snapshots}"));
            snapshot(session, capture, &kept, path.into(), true)?;
        }
        session.wait()?;
    }
}

impl Kept {
    /// Takes the records from the rings of the event that takes no samples.
    fn take(&mut self, rings: &mut [Ring]) -> Result<(), Failure> {
        for ring in rings {
            let mut unread = ring.read().map_err(|error| error.to_string())?;
            while let Some(record) = unread.next_record() {
                let record = record.map_err(|error| error.to_string())?;
                if self.records.len() + usize::from(record.size()) <= MAX_KEPT {
                    record.write(&mut self.records);
                } else if !self.is_full {
                    self.is_full = true;
                    say!(
                        "perfdata: too many mappings and tasks to keep; newer ones will be missing from the snapshots"
                    );
                }
            }
        }
        Ok(())
    }
}

/// Writes the contents of the rings to `path`. With `dumps`, also writes copies of the rings if the command line asks
/// for them.
fn snapshot(
    session: &mut Session,
    capture: &Capture<'_>,
    kept: &Kept,
    path: PathBuf,
    dumps: bool,
) -> Result<(), Failure> {
    let mut records = Vec::new();
    {
        // Pause all rings before reading the first, so that they end at the same time.
        let paused = session.overwrites.iter_mut().map(Overwrite::pause);
        let mut paused = paused.collect::<Result<Vec<_>, _>>()?;
        if let (Some(folder), true) = (&capture.args.dump_rings, dumps) {
            capture.dump_rings(folder, paused.iter().map(ring::Paused::dump))?;
        }
        for ring in &mut paused {
            let mut newest_first = ring.records().map_err(|error| error.to_string())?;
            let mut of_ring = Vec::new();
            while let Some(record) = newest_first.next_record() {
                let mut bytes = Vec::new();
                record.map_err(|error| error.to_string())?.write(&mut bytes);
                of_ring.push(bytes);
            }
            of_ring.reverse();
            records.append(&mut of_ring);
        }
        paused.into_iter().try_for_each(ring::Paused::resume)?;
    }
    let mut out = capture.create(&path)?;
    let mut rest = kept.records.as_slice();
    while let Ok((record, after)) = perf_parse::RawRecord::parse(rest) {
        out.raw(&record)?;
        rest = after;
    }
    for record in &records {
        out.record(record)?;
    }
    out.mark(RecordType::FINISHED_ROUND)?;
    capture.finish(out, &path)
}
