use super::super::tests::{each, two_runs};
use super::*;

#[test]
fn a_row_is_laid_out_in_columns() {
    assert_eq!(
        each(|event| row(event, None, 1, 4)),
        [
            "          1,234.57 msec task-clock                #    0.988 CPUs utilized",
            "CPU3             1,234,567      page-faults                                               (25.00%)",
            "tid 4321          <not counted>      page-faults",
            "   <not supported>      cpu-cycles",
        ]
    );
}

#[test]
fn runs_tell_the_deviation_and_intervals_the_time() {
    let rows = each(|event| row(event, None, 2, 4));
    assert_eq!(
        rows[0],
        "          1,234.57 msec task-clock                #    0.988 CPUs utilized        ( +-  1.25% )"
    );
    assert!(rows[1].ends_with(" ( +-  1.25% ) (25.00%)") && rows[2].ends_with("page-faults"), "{rows:?}");
    let rows = each(|event| row(event, Some(Duration::from_millis(1500)), 1, 4));
    assert_eq!(rows[3], "     1.500000000    <not supported>      cpu-cycles");
    assert_eq!(interval_head(4), "#           time             counts unit events\n");
}

#[test]
fn thousands_stand_apart() {
    let printed = [0, 999, 1000, 12_345_678].map(|value| number(Value::Whole(value), false));
    assert_eq!(printed, ["0", "999", "1,000", "12,345,678"]);
    assert_eq!(number(Value::Real(1234.5), false), "1,234");
    assert_eq!(number(Value::Real(-123456.789), true), "-123,456.79");
    assert_eq!(number(Value::Real(-1234.0), true), "-1,234.00");
}

#[test]
fn totals_are_means() {
    assert_eq!(
        totals(&two_runs()),
        "
          2.000000 +- 1.000000 seconds time elapsed  ( +- 50.00% )

       0.600000000 seconds user
       0.020000000 seconds sys

"
    );
    let one = Totals { elapsed: vec![0.25], cpu_times: Vec::new() };
    assert_eq!(totals(&one), "\n       0.250000000 seconds time elapsed\n\n");
}

#[test]
fn the_head_says_what_is_counted() {
    assert_eq!(head("'true'", 1), "\n Performance counter stats for 'true':\n\n");
    assert_eq!(head("'true'", 3), "\n Performance counter stats for 'true' (3 runs):\n\n");
}
