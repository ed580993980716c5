//! Malformed event strings, and the offsets of their errors.

use perf_open::event::{EventParser, ParseErrorKind, parse};
use perf_open::pmu::Pmus;
use perf_open::tracepoint::Tracefs;

use crate::fake::{HYBRID, INTEL, parser};

#[test]
fn every_fault_has_its_place() {
    let parser = parser(INTEL);
    for (list, offset, message) in [
        ("", 0, "expected an event"),
        (" ", 1, "expected an event"),
        ("faults,", 7, "expected an event"),
        ("faults,,cs", 7, "expected an event"),
        ("{}", 1, "expected an event"),
        ("{faults", 7, "expected `,` or `}`"),
        ("{faults,{cs}}", 8, "expected an event"),
        ("faults}", 6, "expected `,` or the end"),
        ("{faults}x", 8, "expected `,` or the end"),
        ("faults/period=1", 15, "expected a closing `/`"),
        ("faults/period=1/u/", 17, "expected `,` or the end"),
        ("faults:uu", 8, "`u` occurs too often"),
        ("faults:pppp", 10, "`p` occurs too often"),
        ("{faults:pp}:pp", 12, "`p` occurs too often"),
        ("{faults}:x", 9, "no modifier `x`"),
        ("faults:uX", 8, "no modifier `X`"),
        ("faults:u/period=1/", 7, "expected modifiers after the terms"),
        ("cs,fualts", 3, "no event `fualts`; closest: faults"),
        ("energypkg", 0, "no event `energypkg`; closest: energy-pkg"),
        ("cpus/event=1/", 0, "no PMU or event `cpus`; closest: cpu"),
        ("cpu/event=256/", 10, "event: 0x100 is larger than 0xff"),
        ("cs,cpu/inv,umaks=1/", 11, "no term `umaks`; closest: umask"),
        ("faults/perod=1/", 7, "no term `perod`; closest: period"),
        ("faults/period=1,period=2/", 16, "`period` occurs too often"),
        ("faults/period=/", 14, "expected a value"),
        (
            "faults/percore/",
            7,
            "`percore` is not supported: perf adds up the counts of a core's threads itself",
        ),
        (
            "duration_time",
            0,
            "`duration_time` is not supported: perf itself measures it; it is not an event of the kernel",
        ),
        (
            "uprobe/path=/bin/ls,offset=0x10/",
            16,
            "expected `,` or the end; a value that contains `/` needs single quotes: path='/bin/ls'",
        ),
        ("sched:sched_swich", 0, "no tracepoint `sched:sched_swich`; closest: sched:sched_switch"),
        ("cs,shed:sched_switch", 3, "no tracepoint system `shed`; closest: sched"),
        ("sched:xyz*", 0, "no tracepoint `sched:xyz*`"),
        ("cylces:u", 0, "no event `cylces`; closest: cycles"),
        ("mem:", 4, "expected a number"),
        ("mem:0x", 5, "expected a number"),
        ("mem:0x1000:rr", 12, "`r` occurs too often"),
        ("mem:0x1000:rx", 11, "breakpoint access 0x5: must be r, w, rw or x"),
        ("mem:0x1000/9:r", 11, "breakpoint length 0x9: must be 1 to 8"),
        ("mem:0x1000:q", 11, "no modifier `q`"),
        ("1:", 2, "expected a number"),
        ("4294967296:1", 0, "type: 0x100000000 is larger than 0xffffffff"),
        ("1:99999999999999999999", 2, "expected a number below 2^64"),
        ("1x:1", 1, "expected a number"),
        ("é:x", 0, "no tracepoint system `é`"),
    ] {
        let error = parser.parse(list).unwrap_err();
        assert_eq!((error.offset(), error.kind().to_string().as_str()), (offset, message), "{list}");
        assert_eq!(error.to_string(), format!("at byte {offset}: {message}"));
        assert_eq!(error.input(), list);
    }
}

#[test]
fn the_caret_counts_letters() {
    let error = parse("é,cs").unwrap_err();
    assert!(matches!(error.kind(), ParseErrorKind::Unknown { what: "event", .. }));
    let error = parse("cs,faults/name='é',period=x/").unwrap_err();
    assert_eq!(error.offset(), 27);
    assert_eq!(
        format!("{error:#}"),
        "at byte 27: expected a number\ncs,faults/name='é',period=x/\n                          ^"
    );
}

#[test]
fn tracefs_that_is_not_mounted() {
    let folder = tempfile::tempdir().unwrap();
    let error =
        EventParser::at(Pmus::new(), Tracefs::at(folder.path())).parse("cs,sched:sched_switch").unwrap_err();
    assert_eq!(error.offset(), 3);
    assert!(error.to_string().contains("tracefs may not be mounted: mount -t tracefs"), "{error}");
}

#[test]
fn patterns_cannot_make_events_without_end() {
    let many = vec!["r1"; (1 << 15) + 1].join(",");
    let error = parser(HYBRID).parse(&many).unwrap_err();
    assert_eq!(error.to_string(), "at byte 98304: number of events: 0x10002 is larger than 0x10000");
    let group = format!("{{{}}}", vec!["r1"; 1000].join(","));
    assert_eq!(parser(INTEL).parse(&group).unwrap()[0].events.len(), 1000);
}

#[test]
fn causes() {
    use core::error::Error as _;
    let error = parser(INTEL).parse("cpu/broken/").unwrap_err();
    let file = error.source().unwrap();
    assert!(file.to_string().ends_with("/cpu/events/broken: at byte 6: expected a value"), "{file}");
    assert_eq!(file.source().unwrap().to_string(), "at byte 6: expected a value");
    assert!(parse("cylces").unwrap_err().source().is_none());
}

/// A width of a format string above 65,535 would panic.
#[test]
fn the_caret_is_at_any_offset() {
    let before = format!("{}faults,", "cs,".repeat(30_000));
    let error = parse(&format!("{before}fualts")).unwrap_err();
    assert_eq!(error.offset(), before.len());
    let shown = format!("{error:#}");
    assert_eq!(shown.lines().nth(2), Some(&*format!("{}^", " ".repeat(before.len()))));
}
