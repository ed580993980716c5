use core::time::Duration;

use super::super::tests::{each, labelled};
use super::*;

const ONE: ReportedSpan = ReportedSpan::Whole { runs: 1 };

#[test]
fn columns_are_those_of_perf() {
    assert_eq!(
        each(|event| row(event, ONE, ",", true)),
        [
            "1234.57,msec,task-clock,1234567800,100.00,0.988,CPUs utilized",
            "CPU3,1234567,,page-faults,a/b,200,25.00,,",
            "sh-4321,<not counted>,,page-faults,0,0.00,,",
            "<not supported>,,cpu-cycles,0,100.00,,",
        ]
    );
    labelled(|rows| {
        assert_eq!(row(&rows[3], ONE, ",", true), "S1,2,7,,page-faults,9,100.00,,");
    });
}

#[test]
fn runs_and_spans_add_columns() {
    let rows = each(|event| row(event, ReportedSpan::Whole { runs: 2 }, ";", true));
    assert_eq!(rows[0], "1234.57;msec;task-clock;1.25%;1234567800;100.00;0.988;CPUs utilized");
    assert_eq!(rows[3], "<not supported>;;cpu-cycles;0.00%;0;100.00;;");
    let rows = each(|event| row(event, ReportedSpan::Interval(Duration::from_millis(1500)), ";", true));
    assert_eq!(rows[3], "1.500000000;<not supported>;;cpu-cycles;0;100.00;;");
    assert_eq!(
        each(|event| row(event, ReportedSpan::Summary, ";", true))[3],
        "summary;<not supported>;;cpu-cycles;0;100.00;;"
    );
    assert_eq!(
        each(|event| row(event, ReportedSpan::Summary, ";", false))[3],
        "<not supported>;;cpu-cycles;0;100.00;;"
    );
}
