use super::super::tests::each;
use super::*;

#[test]
fn columns_are_those_of_perf() {
    assert_eq!(
        each(|event| row(event, None, 1, ",")),
        [
            "1234.57,msec,task-clock,1234567800,100.00,0.988,CPUs utilized",
            "CPU3,1234567,,page-faults,200,25.00,,",
            "4321,<not counted>,,page-faults,0,0.00,,",
            "<not supported>,,cpu-cycles,0,100.00,,",
        ]
    );
}

#[test]
fn runs_and_intervals_add_columns() {
    let rows = each(|event| row(event, Some(Duration::from_millis(1500)), 2, ";"));
    assert_eq!(rows[0], "1.500000000;1234.57;msec;task-clock;1.25%;1234567800;100.00;0.988;CPUs utilized");
    assert_eq!(rows[3], "1.500000000;<not supported>;;cpu-cycles;0.00%;0;100.00;;");
}
