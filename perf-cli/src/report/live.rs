//! Reports of a recording that goes on: each of the samples of the last while.

use std::thread::sleep;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use perf_parse::file::Reader;
use serde_json::json;

use super::browser::{self, live as browser_live};
use super::live_view::{LiveCaptures, LiveView, live_report, status};
use super::{ReportView, json};
use crate::args::live::TopFormat;
use crate::names::LiveNames;
use crate::outcome::Failure;
use crate::output::Output;

impl LiveView {
    /// Shows the recording until it ends, or the user wants no more.
    ///
    /// # Errors
    ///
    /// Those of the options, of the recording, and of the output.
    pub(crate) fn run(&self, captures: &mut dyn LiveCaptures) -> Result<(), Failure> {
        if self.has_browser { browser_live::run(self, captures) } else { self.print(captures) }
    }

    /// Prints each update.
    fn print(&self, captures: &mut dyn LiveCaptures) -> Result<(), Failure> {
        let (mut names, mut output) = (LiveNames::default(), Output::new());
        let mut next = Instant::now();
        for _ in 0..self.updates.unwrap_or(u64::MAX) {
            next += self.delay;
            sleep(next.saturating_duration_since(Instant::now()));
            let Some(bytes) = captures.capture(self.window) else { return Ok(()) };
            let bytes = bytes?;
            let reader = Reader::new(&bytes)?;
            let (report, looked) = live_report(&reader, &self.report, &mut names)?;
            let view = ReportView { args: &self.report, report: &report, looked: &looked };
            let own = captures.own_percent();
            match self.format {
                TopFormat::Text => {
                    let text = browser::first_rows(&view, self.entries);
                    let status = status(&report, self.window, own);
                    output.buffer.extend_from_slice(format!("# {status}\n{text}\n").as_bytes());
                }
                TopFormat::Jsonl => self.push_json(&view, own, &mut output.buffer),
            }
            if !output.flush()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Appends an update as a line of JSON.
    fn push_json(&self, view: &ReportView<'_>, own: f64, out: &mut Vec<u8>) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let account = view.report.account();
        let table =
            view.report.tables().first().map(|events| view.report.table(events, view.args.percentage.into()));
        let rows = table.iter().flat_map(|table| {
            table.shown().take(self.entries).map(|row| serde_json::Value::from(json::row_value(table, row)))
        });
        let line = json!({
            "time": time,
            "seconds": self.window.as_secs_f64(),
            "samples": view.report.selected(),
            "lost": account.lost.saturating_add(account.lost_samples),
            "own_percent": own,
            "rows": rows.collect::<Vec<_>>(),
        });
        crate::escape::push_json_value(out, &line);
        out.push(b'\n');
    }
}
