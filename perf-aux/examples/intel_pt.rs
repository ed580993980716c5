//! Prints the Intel PT traces of a capture: `intel_pt CAPTURE packets|events`.
//!
//! Packets are printed as `perf script -D` does, and events as `perf script --itrace=pweI` prints their fields. An event begins
//! with its time in nanoseconds and its address, or with `-` in place of what is not known.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufWriter, Write};

use perf_aux::pt::{Config, EventState, Info, Packets};
use perf_parse::abi::event::EventType;
use perf_parse::record::user::UserRecord;
use perf_parse::{Reader, Record};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [capture, what] = args.as_slice() else {
        return Err("usage: intel_pt CAPTURE packets|events".into());
    };
    let reader = Reader::open(capture)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match what.as_str() {
        "packets" => packets(&reader, &mut out),
        "events" => events(&reader, &mut out),
        _ => Err(format!("{what}: neither packets nor events").into()),
    }?;
    Ok(out.flush()?)
}

fn packets(reader: &Reader<'_>, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for record in reader.records() {
        for line in Packets::as_perf(&reader.aux_data(&record?)?).lines() {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn events(reader: &Reader<'_>, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // By CPU and thread.
    let mut states = BTreeMap::new();
    let records = reader.records().collect::<Result<Vec<_>, _>>()?;
    let mut info = None;
    for record in &records {
        match record.decode()? {
            Record::User(UserRecord::AuxtraceInfo(found), _) => info = Some(Info::new(&found)?),
            Record::User(UserRecord::Auxtrace(found), _) => {
                let info = info.ok_or("the capture has AUX data, and no AUXTRACE_INFO record before it")?;
                let of_tracer =
                    reader.events().iter().find(|event| event.attr.kind == EventType(info.pmu_type));
                let config = Config(of_tracer.ok_or("the capture has no event of the tracer")?.attr.config);
                let data = reader.aux_data(record)?;
                let state = states.entry((found.cpu, found.tid)).or_insert_with(|| {
                    let mut state = EventState::new(&info, config);
                    state.start(found.reference);
                    state
                });
                for event in state.events(&data) {
                    let time =
                        event.tsc.and_then(|tsc| info.time(tsc)).map_or("-".into(), |time| time.to_string());
                    let ip = event.ip.map_or("-".into(), |ip| format!("{ip:x}"));
                    writeln!(out, "{time} {ip} {}: {}", event.kind.name().unwrap_or("error"), event.kind)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
