//! Intel PT packets and events that are chosen at random, held against the installed perf, which decodes them on any x86 machine.
//! `testdata/check/pt.py` does the same with more of them, and with several versions of perf.

use std::process::Command;

use perf_aux::pt::{Config, Event, EventState, Info, Packets};
use perf_parse::record::user::UserRecord;
use perf_parse::{Reader, Record};
use testdata::intel_pt::{self, REFERENCE, WITHOUT_BRANCHES};

fn main() -> std::process::ExitCode {
    needs::run(&[needs::tests![packets_as_perf_prints_them, events_as_perf_prints_them]])
}

/// Returns what perf prints of a capture; skips the test if this perf cannot decode it.
fn perf(args: &[&str], capture: &[u8]) -> String {
    needs::all(&[needs::Need::PERF]);
    let path = needs::folder().join("perf.data");
    std::fs::write(&path, capture).unwrap();
    let mut perf = Command::new("perf");
    perf.arg("script").args(args).arg("-i").arg(path).env("HOME", needs::home());
    let ended =
        perf.envs([("LC_ALL", "C"), ("PERF_CONFIG", "/dev/null"), ("PERF_PAGER", "cat")]).output().unwrap();
    if !ended.status.success() || ended.stdout.is_empty() {
        needs::skip("perf-intel-pt", &String::from_utf8_lossy(&ended.stderr));
    }
    // The text of a payload need not be UTF-8.
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// Calls a function with the trace of a capture, with its padding, and its parameters.
fn with_trace<T>(capture: &[u8], f: impl FnOnce(&[u8], &Info<'_>) -> T) -> T {
    let reader = Reader::new(capture).unwrap();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    let info = records.iter().find_map(|record| match record.decode().unwrap() {
        Record::User(UserRecord::AuxtraceInfo(found), _) => Some(Info::new(&found).unwrap()),
        _ => None,
    });
    let traces = records.iter().map(|record| reader.aux_data(record).unwrap());
    f(&traces.collect::<Vec<_>>().concat(), &info.unwrap())
}

fn packets_as_perf_prints_them() {
    let capture = intel_pt::capture(WITHOUT_BRANCHES, &[intel_pt::packets(41, 3000)]);
    let printed = perf(&["-D"], &capture);
    // Those of packets have offsets of 8 digits, those of records of 4.
    let is_packet = |line: &&str| line.starts_with(".  ") && line.get(11..13) == Some(": ");
    let expected: Vec<_> = printed.lines().filter(is_packet).collect();
    assert!(expected.len() > 3000, "{}", expected.len());
    with_trace(&capture, |trace, _| {
        let lines: Vec<_> = Packets::as_perf(trace).lines().map(|line| line.to_string()).collect();
        assert_eq!(lines, expected);
    });
}

/// Time in nanoseconds, name, fields and address as perf prints them; addresses only where the trace has them. perf pads the fields.
fn text(event: &Event<'_>, info: &Info<'_>) -> String {
    let time = event.tsc.and_then(|tsc| info.time(tsc)).unwrap_or(0);
    let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
    let ip = event.ip.map_or(String::new(), |ip| format!("{ip:x}"));
    format!("{seconds}.{rest:09}: {}: {} {ip}", event.kind.name().unwrap_or("error"), event.kind)
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn events_as_perf_prints_them() {
    let capture = intel_pt::capture(WITHOUT_BRANCHES, &[intel_pt::events(42, 500)]);
    let printed = perf(&["--itrace=pwI", "--ns", "-F", "time,event,ip,synth"], &capture);
    // perf 6.1 has no names of these.
    let printed = printed.replace("cfe: 12 ", "cfe: UINTR ").replace("cfe: 13 ", "cfe: UIRET ");
    let mut expected = printed.lines().filter(|line| !line.contains(" iflag: "));
    with_trace(&capture, |trace, info| {
        let mut state = EventState::new(info, Config(WITHOUT_BRANCHES));
        state.start(REFERENCE);
        let mut count = 0;
        for event in state.events(trace).filter(|event| event.kind.name().is_some()) {
            let mut expected = words(expected.next().unwrap_or_default());
            if event.ip.is_none() {
                expected.pop();
            }
            assert_eq!(words(&text(&event, info)), expected, "{event:?}");
            count += 1;
        }
        assert!(count > 500, "{count}");
    });
    assert_eq!(expected.next(), None);
}
