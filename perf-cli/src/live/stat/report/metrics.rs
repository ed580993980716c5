//! Metrics alone, for `--metric-only`: a line for each place, with a column for each metric.

use perf_record::stat::{CountRow, MetricValue};
use serde_json::Value as Json;

use super::{ReportedSpan, StatFormat, csv, json, text};
use crate::column::{self, right};

/// The columns of a metric.
const WIDTH: usize = 20;

/// The columns of metrics. They stay the same from one span of time to the next; new metrics are appended.
#[derive(Debug, Default)]
pub(super) struct MetricColumns {
    list: Vec<MetricColumn>,
    /// How many columns the last head named.
    named: usize,
}

/// A metric of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MetricColumn {
    /// The event with its cgroup; the number of the event if it was given several times.
    event: String,
    unit: String,
}

impl MetricColumns {
    /// Returns the lines of all places. Before the first, and when a metric is new, a head names the metrics; JSON has none.
    pub(super) fn lines(&mut self, rows: &[CountRow<'_>], span: ReportedSpan, format: &StatFormat) -> String {
        let mut lines = String::new();
        let places = places(rows);
        let values: Vec<Vec<(usize, f64)>> = places.iter().map(|place| self.values(place)).collect();
        let names = self.names();
        for (place, values) in places.iter().zip(&values) {
            let Some(first) = place.first() else { continue };
            let value = |column: usize| values.iter().find(|it| it.0 == column).map(|it| it.1);
            let width = |name: &str| name.chars().count().clamp(WIDTH, column::WIDEST);
            let is_new = core::mem::replace(&mut self.named, names.len()) != names.len();
            let line = match format {
                StatFormat::Text { .. } => {
                    let prefix = text::prefix(first, span);
                    if is_new {
                        lines += &" ".repeat(prefix.chars().count());
                        lines.extend(names.iter().map(|name| format!(" {}", right(name, width(name)))));
                        lines.push('\n');
                    }
                    let values = names.iter().enumerate().map(|(column, name)| {
                        let value = value(column).map(|value| format!("{value:.3}")).unwrap_or_default();
                        format!(" {}", right(&value, width(name)))
                    });
                    (prefix + &values.collect::<String>()).trim_end().to_owned()
                }
                StatFormat::Json => {
                    let mut object = json::prefix(first, span);
                    for (column, name) in names.iter().enumerate() {
                        if let Some(value) = value(column) {
                            object.insert(name.clone(), format!("{value:.6}").into());
                        }
                    }
                    Json::Object(object).to_string()
                }
                StatFormat::Csv { separator } => {
                    let prefix = csv::prefix(first, span, true);
                    if is_new {
                        let head: Vec<String> =
                            prefix.iter().map(|_| String::new()).chain(names.iter().cloned()).collect();
                        lines += &(head.join(separator) + separator + "\n");
                    }
                    let values = (0..names.len())
                        .map(|column| value(column).map(|value| format!("{value:.3}")).unwrap_or_default());
                    // As perf does, a separator also follows the last metric.
                    prefix.into_iter().chain(values).collect::<Vec<_>>().join(separator) + separator
                }
            };
            lines += &line;
            lines.push('\n');
        }
        lines
    }

    /// Returns the metrics of a place, each with its column.
    fn values(&mut self, place: &[&CountRow<'_>]) -> Vec<(usize, f64)> {
        let mut values = Vec::new();
        for (number, row) in place.iter().enumerate() {
            let is_same = |other: &&&CountRow<'_>| {
                (&other.event.name, &other.event.cgroup) == (&row.event.name, &row.event.cgroup)
            };
            let before = place.get(..number).unwrap_or_default().iter().filter(is_same).count();
            for metric in [&row.metric, &row.second_metric].into_iter().flatten() {
                let (column, value) = MetricColumn::of(row, before, metric);
                let known = self.list.iter().position(|it| *it == column);
                values.push((known.unwrap_or(self.list.len()), value));
                if known.is_none() {
                    self.list.push(column);
                }
            }
        }
        values
    }

    /// Returns the names of the columns: the unit, as perf has it; with the event, if it is a rate, or if another event has a
    /// metric in this unit.
    fn names(&self) -> Vec<String> {
        let name = |column: &MetricColumn| {
            let MetricColumn { event, unit } = column;
            let is_alone = self.list.iter().filter(|it| it.unit == *unit).count() == 1;
            match () {
                () if unit == MetricValue::RATE => format!("{event}{unit}"),
                () if is_alone => unit.clone(),
                () => format!("{unit} ({event})"),
            }
        };
        self.list.iter().map(name).collect()
    }
}

impl MetricColumn {
    /// Returns the column of a metric, and its value there: a rate without the prefix of its unit, which changes with the
    /// value. `before` is how many events of the same name are before the row.
    fn of(row: &CountRow<'_>, before: usize, metric: &MetricValue) -> (Self, f64) {
        let mut event = row.event.name.clone();
        if let Some(cgroup) = &row.event.cgroup {
            event += &format!(" {cgroup}");
        }
        if before > 0 {
            event += &format!(" #{}", before + 1);
        }
        let (unit, value) = match metric.per_second {
            Some(rate) => (MetricValue::RATE.to_owned(), rate),
            None => (metric.unit.clone(), metric.value),
        };
        (Self { event, unit }, value)
    }
}

/// Returns the rows of each place, in the order of their first rows.
fn places<'a, 'b>(rows: &'a [CountRow<'b>]) -> Vec<Vec<&'a CountRow<'b>>> {
    let mut places: Vec<Vec<&CountRow<'_>>> = Vec::new();
    for row in rows {
        let same = |of: &&mut Vec<&CountRow<'_>>| of.first().is_some_and(|first| first.label == row.label);
        match places.iter_mut().find(same) {
            Some(place) => place.push(row),
            None => places.push(vec![row]),
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::tests::{labelled, metric, rate, with_metrics};
    use super::*;

    #[test]
    fn each_place_has_a_line_of_metrics() {
        labelled(|rows| {
            let lines = |format: &StatFormat| {
                MetricColumns::default().lines(rows, ReportedSpan::Whole { runs: 1 }, format)
            };
            assert_eq!(
                lines(&StatFormat::Text { big_num: true }),
                "                    CPUs utilized      page-faults/sec
S0        2                 0.988             5000.000
S1        2                 0.250
"
            );
            assert_eq!(
                lines(&StatFormat::Csv { separator: ";".to_owned() }),
                ";;CPUs utilized;page-faults/sec;\nS0;2;0.988;5000.000;\nS1;2;0.250;;\n"
            );
            assert_eq!(
                lines(&StatFormat::Json),
                "{\"socket\":\"S0\",\"counters\":2,\"CPUs utilized\":\"0.987650\",\"page-faults/sec\":\"5000.000000\"}
{\"socket\":\"S1\",\"counters\":2,\"CPUs utilized\":\"0.250000\"}
"
            );
        });
    }

    /// Each event has its own column, whatever its unit, and the column does not change with the value.
    #[test]
    fn metrics_with_the_same_unit_have_their_own_names() {
        let metrics =
            [metric(1.0, "CPUs utilized"), rate(3.0), rate(5000.0), metric(2.0, "CPUs utilized"), rate(7.0)];
        let names = ["cpu-clock", "faults", "cs", "task-clock", "faults"];
        let csv = StatFormat::Csv { separator: ",".to_owned() };
        with_metrics(&names, &metrics, |rows| {
            let mut columns = MetricColumns::default();
            let span = ReportedSpan::Whole { runs: 1 };
            let (head, values) = (
                "CPUs utilized (cpu-clock),faults/sec,cs/sec,CPUs utilized (task-clock),faults #2/sec,\n",
                "1.000,3.000,5000.000,2.000,7.000,\n",
            );
            assert_eq!(columns.lines(rows, span, &csv), [head, values].concat());
            // The second one is not counted: its column is empty, and the others stay where they are.
            let mut rows = rows.to_vec();
            rows[1].metric = None;
            assert_eq!(columns.lines(&rows, span, &csv), "1.000,,5000.000,2.000,7.000,\n");
            // An event that had no metric before gets the last column, and a new head says so.
            let mut columns = MetricColumns::default();
            let first = columns.lines(&rows[..1], span, &csv);
            assert_eq!(first, "CPUs utilized,\n1.000,\n");
            assert_eq!(columns.lines(&rows[..3], span, &csv), "CPUs utilized,cs/sec,\n1.000,5000.000,\n");
        });
    }
}
