//! Counts in which file each program ran: `by_file [CAPTURE]`. `by_file.py` does the same over `perfdata script`.

use std::collections::BTreeMap;
use std::error::Error;

use perf_parse::event::Events;
use perf_parse::file::{DeferredSamples, FileError};
use perf_parse::{EventRecord, Reader};
use perf_session::{Periods, Session};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let reader = Reader::open(path)?;
    let (mut session, mut periods) = (Session::new(), Periods::default());
    let mut samples = BTreeMap::<(String, String), u64>::new();
    let mut count = |record: &EventRecord<'_>, user: Option<&[u64]>, events: &Events| {
        let Some(at) = session.update_at(record)? else { return Ok::<_, FileError>(()) };
        let mapping = at.stack(user)?.next().and_then(|frame| frame.mapping);
        let file = mapping.map_or(&b"[unknown]"[..], |mapping| mapping.dso().name());
        // A sample of a group counts for each of its events.
        for _ in periods.of(&at, events)? {
            *samples.entry((text(at.thread().comm()), text(file))).or_default() += 1;
        }
        Ok(())
    };
    let mut waiting = DeferredSamples::within(reader.limits());
    let mut records = reader.records().in_time_order();
    while let Some(record) = records.next() {
        let record = record?;
        if waiting.hold(&record) {
            continue;
        }
        if let Some(ended) = waiting.end(&record) {
            for sample in &ended.samples {
                count(&sample.record, ended.user_of(sample), records.events())?;
            }
        }
        count(&record, None, records.events())?;
    }
    for sample in waiting.take_all() {
        count(&sample.record, None, records.events())?;
    }
    for ((comm, file), samples) in samples {
        println!("{samples:8} {comm} {file}");
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
