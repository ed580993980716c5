//! Metrics alone, for `--metric-only`: a line for each place, with a column for each metric.

use serde_json::Value as Json;

use super::{Format, Span, csv, json, text};
use crate::live::stat::table::Row;

/// The columns of a metric.
const WIDTH: usize = 20;

/// Returns the lines of all places. Before the first, a head names the metrics; JSON has none.
pub(super) fn lines(rows: &[Row<'_>], span: Span, format: &Format, has_head: &mut bool) -> String {
    let mut lines = String::new();
    for place in places(rows) {
        let Some(first) = place.first() else { continue };
        let metrics: Vec<(&str, f64)> = place
            .iter()
            .flat_map(|row| [&row.metric, &row.second_metric])
            .flatten()
            .map(|metric| (metric.unit.as_str(), metric.value))
            .collect();
        let width = |unit: &str| unit.chars().count().max(WIDTH);
        let line = match format {
            Format::Text { .. } => {
                let prefix = text::prefix(first, span);
                if !core::mem::replace(has_head, true) {
                    lines += &" ".repeat(prefix.chars().count());
                    lines.extend(metrics.iter().map(|(unit, _)| format!(" {unit:>0$}", width(unit))));
                    lines.push('\n');
                }
                let values = metrics.iter().map(|(unit, value)| format!(" {value:>0$.3}", width(unit)));
                prefix + &values.collect::<String>()
            }
            Format::Json => {
                let mut object = json::prefix(first, span);
                for (unit, value) in &metrics {
                    object.insert((*unit).to_owned(), format!("{value:.6}").into());
                }
                Json::Object(object).to_string()
            }
            Format::Csv { separator } => {
                let prefix = csv::prefix(first, span, true);
                if !core::mem::replace(has_head, true) {
                    let units = metrics.iter().map(|(unit, _)| (*unit).to_owned());
                    let head: Vec<String> = prefix.iter().map(|_| String::new()).chain(units).collect();
                    lines += &(head.join(separator) + separator + "\n");
                }
                let values = metrics.iter().map(|(_, value)| format!("{value:.3}"));
                // As perf does, a separator also follows the last metric.
                prefix.into_iter().chain(values).collect::<Vec<_>>().join(separator) + separator
            }
        };
        lines += &line;
        lines.push('\n');
    }
    lines
}

/// Returns the rows of each place, in the order of their first rows.
fn places<'a, 'b>(rows: &'a [Row<'b>]) -> Vec<Vec<&'a Row<'b>>> {
    let mut places: Vec<Vec<&Row<'_>>> = Vec::new();
    for row in rows {
        let same = |of: &&mut Vec<&Row<'_>>| of.first().is_some_and(|first| first.label == row.label);
        match places.iter_mut().find(same) {
            Some(place) => place.push(row),
            None => places.push(vec![row]),
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::tests::labelled;
    use super::*;

    #[test]
    fn each_place_has_a_line_of_metrics() {
        labelled(|rows| {
            let lines = |format: &Format| lines(rows, Span::Whole { runs: 1 }, format, &mut false);
            assert_eq!(
                lines(&Format::Text { big_num: true }),
                "                    CPUs utilized                 /sec
S0        2                 0.988                5.000
S1        2                 0.250
"
            );
            assert_eq!(
                lines(&Format::Csv { separator: ";".to_owned() }),
                ";;CPUs utilized;/sec;\nS0;2;0.988;5.000;\nS1;2;0.250;\n"
            );
            assert_eq!(
                lines(&Format::Json),
                "{\"socket\":\"S0\",\"counters\":2,\"CPUs utilized\":\"0.987650\",\"/sec\":\"5.000000\"}
{\"socket\":\"S1\",\"counters\":2,\"CPUs utilized\":\"0.250000\"}
"
            );
        });
    }
}
