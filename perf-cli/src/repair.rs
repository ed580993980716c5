//! `perfdata repair`: a well-formed perf.data from what can be read of a capture.

use std::fs::File;
use std::io::BufWriter;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::file::repair::{Repaired, Step, repair};
use perf_parse::file::{Reader, Source};
use serde_json::json;

use crate::args::RepairArgs;
use crate::input::{self, Memory, Work};
use crate::progress::Progress;
use crate::render::account;
use crate::{Failure, Outcome, diagnose};

pub(crate) fn run(args: &RepairArgs) -> Result<Outcome, Failure> {
    input::read_whole(&args.file, Repair { args })
}

/// The work of the verb.
struct Repair<'a> {
    args: &'a RepairArgs,
}

impl Work for Repair<'_> {
    fn run<O: Endian, S: Source>(
        self,
        mut reader: Reader<'_, O, S>,
        memory: Memory<'_>,
    ) -> Result<Outcome, Failure> {
        let (input, output) = (&self.args.file, &self.args.output);
        let is_same = |a: &std::path::Path, b: &std::path::Path| {
            a.canonicalize().ok().is_some_and(|a| b.canonicalize().is_ok_and(|b| a == b))
        };
        if is_same(input, output) {
            return Err(Failure(format!(
                "{}: is the capture itself; give -o another name",
                output.display()
            )));
        }
        let named = |error: &dyn core::fmt::Display| Failure(format!("{}: {error}", output.display()));
        let file = File::create(output).map_err(|error| named(&error))?;
        let mut progress = Progress::new(memory.size());
        let repaired = repair(&mut reader, BufWriter::new(file), |step| match step {
            Step::At(offset) => progress.at(offset),
            Step::Capture { error } | Step::Unreadable { error, .. } => diagnose(&error),
            Step::Unwritable { offset, kind, error } => eprintln!("{offset:#x}: {kind}: {error}"),
            _ => {}
        });
        let Repaired { written, dropped, features_dropped, .. } = repaired.map_err(|error| named(&error))?;
        let account = reader.account();
        if let Some(path) = &self.args.report {
            let report = json!({
                "account": account::value(account),
                "written": written,
                "dropped": dropped,
                "features_dropped": features_dropped.iter().map(Feature::to_string).collect::<Vec<_>>(),
            });
            std::fs::write(path, format!("{report:#}\n"))
                .map_err(|error| Failure(format!("{}: {error}", path.display())))?;
        }
        let skipped = account.bytes_skipped;
        eprintln!("perfdata: records written: {written}, dropped: {dropped}, bytes skipped: {skipped}");
        Ok(if account.is_clean() && dropped == 0 { Outcome::Clean } else { Outcome::Partial })
    }
}
