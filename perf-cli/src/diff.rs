//! `perfdata diff`: two captures, or two parts of one, against each other.

use std::path::{Path, PathBuf};

use perf_profile::diff::{Diff, DiffSide, FunctionDiff, Normalize};
use perf_profile::{Profile, SampleDetail};
use perf_symbol::Guess;

use crate::args::Format;
use crate::args::diff::{DiffArgs, NormalizeArg};
use crate::args::fold::WeightArg;
use crate::capture_names::capture_names;
use crate::column;
use crate::escape::{Lossy, OneLine, print, push_json_value, push_name, shown};
use crate::flamegraph;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::profile::{self, ProfileRequest, Profiles};

pub(crate) fn run(args: &DiffArgs) -> Result<Outcome, Failure> {
    let (before_file, after_file) = files(args)?;
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let document = args.output.as_deref().map(flamegraph::document_of).transpose()?;
    let mut sides = Vec::new();
    let mut all_inputs = Vec::new();
    let mut outcome = Outcome::Clean;
    for (path, selections) in [(&before_file, &args.before), (&after_file, &args.after)] {
        let mut only = args.only.clone();
        selections.iter().for_each(|selection| selection.apply(&mut only));
        let paths = std::slice::from_ref(path);
        let request = ProfileRequest {
            paths,
            only: &only,
            symbols: &args.symbols,
            naming: &args.naming,
            off_cpu: false,
            lock_waits: false,
            wakers: 0,
            marks: false,
            itrace: args.itrace,
        };
        let Profiles { profiles, inputs, outcome: of_side } =
            profile::read(&request, SampleDetail::default())?;
        if of_side != Outcome::Clean {
            outcome = of_side;
        }
        sides.extend(profiles);
        all_inputs.extend(inputs);
    }
    let [before, after] = &*sides else { return Err(Failure("a capture is no longer there".into())) };
    let before = first(before, &before_file)?;
    let name = before.name();
    let after = match DiffSide::named(after, &name) {
        Some(after) => after,
        None if args.output.is_some() => {
            let what = "a flame graph of differences needs an event of both captures";
            return Err(Failure(format!("{}: no samples of {}; {what}", shown(&after_file), OneLine(&name))));
        }
        None => {
            let after = first(after, &after_file)?;
            say!("perfdata: {} is compared with {}", OneLine(&name), OneLine(&after.name()));
            after
        }
    };
    let normalize = match args.normalize {
        NormalizeArg::Share => Normalize::Share,
        NormalizeArg::Time => Normalize::Time,
        NormalizeArg::None => Normalize::Nothing,
    };
    if let (Some(path), Some(document)) = (&args.output, document) {
        let mut options = perf_export::flamegraph::Options::default();
        options.captures = names(args, &before_file, &after_file);
        options.compare = Some(normalize);
        options.document = document;
        flamegraph::write(path, &sides, &options, &all_inputs)?;
        return Ok(outcome);
    }
    let weight = match args.weight {
        WeightArg::Period => perf_profile::Weight::Period,
        WeightArg::Samples => perf_profile::Weight::Samples,
    };
    let diff = Diff::of([before, after], weight, normalize);
    let mut output = Output::new();
    match args.format {
        Format::Text => push_text(&mut output.buffer, &diff, args, &name),
        Format::Jsonl => push_json(&mut output.buffer, &diff, args, &name),
    }
    output.flush()?;
    Ok(outcome)
}

/// Returns the captures of the two sides.
///
/// # Errors
///
/// If both are one, of which no parts are selected.
fn files(args: &DiffArgs) -> Result<(PathBuf, PathBuf), Failure> {
    const DEFAULT: &str = "perf.data";
    let selects_parts = !args.before.is_empty() || !args.after.is_empty();
    let before = match &args.before_file {
        Some(path) => path.clone(),
        None if selects_parts => DEFAULT.into(),
        None => {
            let old = PathBuf::from("perf.data.old");
            if !(old.exists() && Path::new(DEFAULT).exists()) {
                let what = "perf.data.old and perf.data are not both in this folder; name two captures, or select two parts of \
                            one with --before and --after";
                return Err(Failure(what.to_owned()));
            }
            return Ok((old, DEFAULT.into()));
        }
    };
    let after = args.after_file.clone().unwrap_or_else(|| before.clone());
    if args.after_file.is_none() && !selects_parts {
        let what = "give a second capture, or select two parts of this one with --before and --after";
        return Err(Failure(format!("{}: {what}", shown(&before))));
    }
    Ok((before, after))
}

/// Returns what the sides are called: the names of their files, and what is selected of them.
fn names(args: &DiffArgs, before_file: &Path, after_file: &Path) -> Vec<Vec<u8>> {
    let files = capture_names(&[before_file.to_owned(), after_file.to_owned()]);
    let selections = [&args.before, &args.after];
    files
        .into_iter()
        .zip(selections)
        .map(|(mut name, selections)| {
            for selection in selections {
                name.extend_from_slice(format!(" {}", selection.text()).as_bytes());
            }
            name
        })
        .collect()
}

/// Returns the first event that has samples.
fn first<'p>(profile: &'p Profile, path: &Path) -> Result<DiffSide<'p>, Failure> {
    DiffSide::first(profile).ok_or_else(|| Failure(format!("{}: no samples are selected", shown(path))))
}

/// Returns the rows that are shown.
fn rows<'d>(diff: &'d Diff, args: &DiffArgs) -> impl Iterator<Item = &'d FunctionDiff> + use<'d> {
    diff.rows_from(args.min_delta)
}

fn push_text(out: &mut Vec<u8>, diff: &Diff, args: &DiffArgs, event: &[u8]) {
    let [before, after] = diff.totals;
    out.extend_from_slice(b"# Event: ");
    push_name(out, event);
    print(out, format_args!("\n# Samples: {} before, {} after\n", before.samples, after.samples));
    let unit = match args.normalize {
        NormalizeArg::Share => "percent of the samples of each side",
        NormalizeArg::Time => "counted in a second",
        NormalizeArg::None => "counted",
    };
    print(out, format_args!("# Numbers: {unit}\n#\n"));
    let heading = "Shared Object";
    let dsos: Vec<_> = rows(diff, args).map(|row| shown_name(&row.key.dso)).collect();
    let width = dsos.iter().map(|dso| column::width(dso)).max().unwrap_or(0).max(heading.len());
    let head = ["Before", "After", "Delta", "Whole before", "Whole after"];
    print(
        out,
        format_args!(
            "# {:>12} {:>12} {:>12} {:>13} {:>13}  {}  Symbol\n#\n",
            head[0],
            head[1],
            head[2],
            head[3],
            head[4],
            column::left(heading, width)
        ),
    );
    for (row, dso) in rows(diff, args).zip(dsos) {
        let ([own_before, own_after], [whole_before, whole_after]) = (row.own, row.whole);
        print(
            out,
            format_args!(
                "  {own_before:>12.2} {own_after:>12.2} {:>+12.2} {whole_before:>13.2} {whole_after:>13.2}  ",
                row.delta()
            ),
        );
        let level = if row.key.is_kernel { 'k' } else { '.' };
        let mark = if row.key.is_guess { Guess::MARK } else { "" };
        let symbol = shown_name(&row.key.name);
        print(out, format_args!("{}  [{level}] {symbol}{mark}\n", column::left(&dso, width)));
    }
    for it in &diff.changed {
        out.extend_from_slice(b"# ");
        push_name(out, &it.name);
        let [before, after] = it.shown_ids();
        print(out, format_args!(": another file: build id {before} before, {after} after\n"));
    }
}

/// Returns a name as a column has it.
fn shown_name(name: &[u8]) -> String {
    let mut shown = Vec::new();
    push_name(&mut shown, if name.is_empty() { b"[unknown]" } else { name });
    column::cut(&mut shown, 0);
    String::from_utf8_lossy(&shown).into_owned()
}

fn push_json(out: &mut Vec<u8>, diff: &Diff, args: &DiffArgs, event: &[u8]) {
    let text = |bytes: &[u8]| Lossy(bytes).to_string();
    let total = |total: perf_profile::SampleTotal| serde_json::json!({"samples": total.samples, "period": total.period});
    let mut push = |value: serde_json::Value| {
        push_json_value(out, &value);
        out.push(b'\n');
    };
    let [before, after] = diff.totals;
    push(
        serde_json::json!({"header": {"event": text(event), "before": total(before), "after": total(after)}}),
    );
    for row in rows(diff, args) {
        let mut value = serde_json::json!({
            "dso": if row.key.dso.is_empty() { serde_json::Value::Null } else { text(&row.key.dso).into() },
            "symbol": if row.key.name.is_empty() { serde_json::Value::Null } else { text(&row.key.name).into() },
            "kernel": row.key.is_kernel,
            "own": row.own,
            "delta": row.delta(),
            "whole": row.whole,
        });
        if row.key.is_guess {
            value["guessed"] = true.into();
        }
        push(value);
    }
    for it in &diff.changed {
        let ids = it.build_ids.each_ref().map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>());
        push(serde_json::json!({"changed": text(&it.name), "build_ids": ids}));
    }
}
