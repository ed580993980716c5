//! Counts in which file each program ran: `by_file [CAPTURE]`. `by_file.py` does the same over `perfdata script`.

use std::collections::BTreeMap;
use std::error::Error;

use perf_parse::Reader;
use perf_session::Session;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let reader = Reader::open(path)?;
    let mut session = Session::new();
    let mut samples = BTreeMap::<(String, String), u64>::new();
    for record in reader.records().in_time_order() {
        let record = record?;
        let Some(at) = session.update_at(&record)? else { continue };
        let mapping = at.stack(None)?.next().and_then(|frame| frame.mapping);
        let file = mapping.map_or(&b"[unknown]"[..], |mapping| mapping.dso().name());
        *samples.entry((text(at.thread().comm()), text(file))).or_default() += 1;
    }
    for ((comm, file), samples) in samples {
        println!("{samples:8} {comm} {file}");
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
