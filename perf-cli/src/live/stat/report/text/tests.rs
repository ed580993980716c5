use core::time::Duration;

use super::super::tests::{each, labelled, two_runs};
use super::*;

const ONE: ReportedSpan = ReportedSpan::Whole { runs: 1 };

#[test]
fn a_row_is_laid_out_in_columns() {
    assert_eq!(
        each(|event| row(event, ONE, 4, true)),
        [
            "          1,234.57 msec task-clock                #    0.988 CPUs utilized",
            "CPU3             1,234,567      page-faults               a/b                                 (25.00%)",
            "              sh-4321          <not counted>      page-faults",
            "   <not supported>      cpu-cycles",
        ]
    );
}

#[test]
fn runs_tell_the_deviation_and_intervals_the_time() {
    let rows = each(|event| row(event, ReportedSpan::Whole { runs: 2 }, 4, true));
    assert_eq!(
        rows[0],
        "          1,234.57 msec task-clock                #    0.988 CPUs utilized        ( +-  1.25% )"
    );
    assert!(rows[1].ends_with(" ( +-  1.25% ) (25.00%)") && rows[2].ends_with("page-faults"), "{rows:?}");
    let rows = each(|event| row(event, ReportedSpan::Interval(Duration::from_millis(1500)), 4, true));
    assert_eq!(rows[3], "     1.500000000    <not supported>      cpu-cycles");
    assert_eq!(interval_head(4), "#           time             counts unit events\n");
}

#[test]
fn thousands_stand_apart() {
    let printed = [0, 999, 1000, 12_345_678].map(|value| number(CountValue::Whole(value), false, true));
    assert_eq!(printed, ["0", "999", "1,000", "12,345,678"]);
    assert_eq!(number(CountValue::Real(1234.5), false, true), "1,234");
    assert_eq!(number(CountValue::Real(-123456.789), true, true), "-123,456.79");
    assert_eq!(number(CountValue::Real(-1234.0), true, true), "-1,234.00");
    assert_eq!(number(CountValue::Real(-1234.0), true, false), "-1234.00");
    assert_eq!(number(CountValue::Whole(12_345_678), false, false), "12345678");
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
    let one = RunTotals { elapsed: vec![0.25], cpu_times: Vec::new(), table: true };
    assert_eq!(totals(&one), "\n       0.250000000 seconds time elapsed\n\n");
}

#[test]
fn a_table_has_every_run() {
    let totals = totals(&RunTotals { table: true, cpu_times: Vec::new(), ..two_runs() });
    let expected = "
         # Table of individual measurements:
         1.0000000 (-1.0000000) #####################
         3.0000000 (+1.0000000) #######

         # Final result:
          2.000000 +- 1.000000 seconds time elapsed  ( +- 50.00% )

";
    assert_eq!(totals, expected);
}

#[test]
fn parts_and_spans_are_columns() {
    labelled(|rows| {
        let line = row(&rows[3], ONE, 0, true);
        assert_eq!(line, "S1        2                  7  page-faults");
    });
    let line = &each(|event| row(event, ReportedSpan::Summary, 4, true))[3];
    assert_eq!(line, "   <not supported>      cpu-cycles");
}

#[test]
fn the_head_says_what_is_counted() {
    assert_eq!(head("'true'", 1), "\n Performance counter stats for 'true':\n\n");
    assert_eq!(head("'true'", 3), "\n Performance counter stats for 'true' (3 runs):\n\n");
}
