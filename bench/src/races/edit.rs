//! `perfdata edit`: cuts, filters, merges and copies against `dd` and `perf inject`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Context;
use crate::failure::Failure;
use crate::folder::{Folder, Used};
use crate::perfdata;
use crate::race::median;
use crate::system::{self, Load};
use crate::table::{Goal, Table};

/// Bytes of the capture, and of that of `--quick`.
const SIZE: u64 = 1_000_000_000;
const QUICK: u64 = 8_000_000;

/// A filter against `dd` of what it reads and writes, and its anonymous memory in MB.
const FILTER: Goal = Goal::AtMost(1.3);
const MEMORY: Goal = Goal::AtMost(64.0);

/// The cost of a cut of 1 % by an index against a copy of the file, in percent.
const CUT: Goal = Goal::AtMost(3.0);

/// Number of captures that are merged, each an eighth of the size, and the cost against copies of each.
const CAPTURES: u64 = 8;
const MERGE: Goal = Goal::AtMost(1.5);

/// A copy against that of `perf inject`.
const INJECT: Goal = Goal::AtLeast(5.0);

/// Filters of samples, a cut, a merge, and a copy.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let perfdata = perfdata::build(!context.quick)?;
    let size = context.size.unwrap_or(if context.quick { QUICK } else { SIZE });
    let folder = Folder::new(size * 4)?;
    let whole = folder.path("whole.data");
    system::write_file(&whole, Load::Long, size)?;
    let race = EditRace { perfdata, folder, rounds: if context.quick { 1 } else { context.rounds } };
    let tables = vec![race.filters(&whole)?, race.cut(&whole)?, race.merge(size)?];
    // A machine that runs --quick need not have perf.
    let copies = if context.quick { None } else { Some(race.copies(&whole)?) };
    Ok(tables.into_iter().chain(copies).collect())
}

/// The program and the place of the race.
struct EditRace {
    perfdata: PathBuf,
    folder: Folder,
    rounds: usize,
}

impl EditRace {
    /// Edits captures. Returns the use, and the output.
    fn edit(&self, captures: &[&Path], options: &[&str]) -> Result<(Used, PathBuf), Failure> {
        let out = self.folder.path("out.data");
        // A file that is replaced is written to the disk first.
        let _ = fs::remove_file(&out);
        let mut command = Command::new(&self.perfdata);
        command.arg("edit").args(captures).args(options).arg("-o").arg(&out);
        Ok((self.folder.run(&mut command)?, out))
    }

    /// Returns the seconds in which `dd` reads a file, and writes another one of the size of `out`.
    fn dd(&self, read: &Path, out: &Path) -> Result<f64, Failure> {
        let run = |from: &OsStr, to: &OsStr| {
            let file = |name: &str, path: &OsStr| [OsStr::new(name), path].join(OsStr::new(""));
            let mut command = Command::new("dd");
            command.args([file("if=", from), file("of=", to)]).arg("bs=1M");
            Ok::<_, Failure>(self.folder.run(&mut command)?.time.as_secs_f64())
        };
        let copy = self.folder.path("copy");
        Ok(run(read.as_os_str(), OsStr::new("/dev/null"))? + run(out.as_os_str(), copy.as_os_str())?)
    }

    fn filters(&self, whole: &Path) -> Result<Table, Failure> {
        let (first, last) = super::size::span(whole)?;
        let time = |share: u64| seconds(first + (last - first) / 4 * share);
        let span = format!("{},{}", time(1), time(3));
        let thread = self.thread(whole)?;
        let steps: [(&str, &[&str]); 4] = [
            ("time", &["--time", &span]),
            ("tid", &["--tid", &thread]),
            ("cpu", &["--cpu", "0-3"]),
            ("event", &["--event", "0"]),
        ];
        let mut table = Table::new("Filters", &["by", "edit, s", "dd, s", "ratio", "anonymous, MB"]);
        for (name, options) in steps {
            let (mut ours, mut theirs, mut ratios, mut memory) = (vec![], vec![], vec![], 0.0_f64);
            for _ in 0..self.rounds {
                let (used, out) = self.edit(&[whole], options)?;
                let dd = self.dd(whole, &out)?;
                ours.push(used.time.as_secs_f64());
                theirs.push(dd);
                ratios.push(used.time.as_secs_f64() / dd);
                memory = memory.max(used.anonymous as f64 / 1e6);
            }
            let ratio = median(ratios);
            let cells = [median(ours), median(theirs), ratio].map(|it| format!("{it:.3}"));
            table.rows.push([name.into()].into_iter().chain(cells).chain([format!("{memory:.1}")]).collect());
            table.judge(&format!("{name}: times dd"), ratio, FILTER);
            table.judge(&format!("{name}: MB"), memory, MEMORY);
        }
        Ok(table)
    }

    /// Returns the thread of the first sample.
    fn thread(&self, whole: &Path) -> Result<String, Failure> {
        let map = crate::capture::map(whole)?;
        let reader = perf_parse::Reader::new(&map)?;
        let tid = reader.records().filter_map(Result::ok).find_map(|record| record.sample()?.tid());
        tid.map(|tid| tid.to_string()).ok_or_else(|| Failure("no sample has a thread".into()))
    }

    fn cut(&self, whole: &Path) -> Result<Table, Failure> {
        self.folder.run_on(&self.perfdata, &["index"], whole)?;
        let (first, last) = super::size::span(whole)?;
        let middle = first + (last - first) / 2;
        let span = format!("{},{}", seconds(middle), seconds(middle + (last - first) / 100));
        let mut table = Table::new("1 % of the time of an indexed capture", &["cut, s", "dd, s", "per cent"]);
        let (mut cuts, mut copies) = (vec![], vec![]);
        for _ in 0..self.rounds {
            cuts.push(self.edit(&[whole], &["--time", &span])?.0.time.as_secs_f64());
            copies.push(self.dd(Path::new("/dev/null"), whole)?);
        }
        let (cut, copy) = (median(cuts), median(copies));
        let percent = cut / copy * 100.0;
        table.rows.push([cut, copy, percent].map(|it| format!("{it:.3}")).to_vec());
        table.judge("cut: per cent of a copy", percent, CUT);
        Ok(table)
    }

    fn merge(&self, size: u64) -> Result<Table, Failure> {
        let paths: Vec<_> = (0..CAPTURES).map(|it| self.folder.path(&format!("part{it}.data"))).collect();
        for path in &paths {
            system::write_file(path, Load::Long, size / CAPTURES)?;
        }
        let all: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
        let (mut merges, mut singles) = (vec![], vec![]);
        for _ in 0..self.rounds {
            merges.push(self.edit(&all, &[])?.0.time.as_secs_f64());
            let copies = all.iter().map(|&path| Ok(self.edit(&[path], &[])?.0.time.as_secs_f64()));
            singles.push(copies.sum::<Result<f64, Failure>>()?);
        }
        let (merge, single) = (median(merges), median(singles));
        let title = format!("Merge of {CAPTURES} captures");
        let mut table = Table::new(title, &["merge, s", "copies, s", "ratio"]);
        table.rows.push([merge, single, merge / single].map(|it| format!("{it:.3}")).to_vec());
        table.judge("merge: times the copies", merge / single, MERGE);
        Ok(table)
    }

    fn copies(&self, whole: &Path) -> Result<Table, Failure> {
        let (mut ours, mut theirs) = (vec![], vec![]);
        for _ in 0..self.rounds {
            ours.push(self.edit(&[whole], &[])?.0.time.as_secs_f64());
            let mut inject = Command::new("perf");
            inject.arg("inject").arg("-i").arg(whole).arg("-o").arg(self.folder.path("injected.data"));
            theirs.push(self.folder.run(&mut inject)?.time.as_secs_f64());
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let mut table = Table::new("Copy", &["edit, s", "perf inject, s", "ratio"]);
        table.rows.push([ours, theirs, theirs / ours].map(|it| format!("{it:.3}")).to_vec());
        table.judge("edit faster than perf inject", theirs / ours, INJECT);
        Ok(table)
    }
}

/// Returns a time in seconds, as `--time` takes it.
fn seconds(time: u64) -> String {
    format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000)
}
