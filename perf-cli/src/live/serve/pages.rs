//! The flame graphs that follow each other.

use core::num::NonZero;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Instant;

use perf_export::flamegraph;
use perf_parse::Reader;
use perf_parse::file::Account;
use perf_profile::{ProfileOptions, SampleDetail, Samples, TimeDetail};
use serde_json::{Value, json};

use super::site::Site;
use crate::args::live::ServeArgs;
use crate::escape::shown;
use crate::input::Memory;
use crate::live::requests::LiveRecording;
use crate::names::{self, LiveNames};
use crate::outcome::{Failure, Outcome};
use crate::report::live_view::LiveCaptures;
use crate::selection;

/// A file is read again after so many times as long as the last reading took, so that a large one does not take a whole CPU.
const REST: u32 = 4;

/// Makes the flame graphs.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    args: &'a ServeArgs,
    /// What the page calls the capture.
    title: Vec<u8>,
    names: LiveNames,
    /// The file as it was when it was read last.
    seen: Option<FileState>,
}

/// What distinguishes a file from itself after a change: its size, and its time of modification.
type FileState = (u64, i64, i64);

impl<'a> Pages<'a> {
    pub(super) fn new(args: &'a ServeArgs, path: &Path) -> Self {
        Self { args, title: shown(path).to_string().into_bytes(), names: LiveNames::default(), seen: None }
    }

    pub(super) fn of_recording(args: &'a ServeArgs) -> Self {
        let title = format!("the last {} s", args.window.as_secs_f64());
        Self { args, title: title.into_bytes(), names: LiveNames::default(), seen: None }
    }

    /// Updates the site while somebody looks, until the recording ends.
    ///
    /// # Errors
    ///
    /// Those of the recording.
    pub(super) fn follow_recording(
        mut self,
        recording: &mut LiveRecording,
        site: &Site,
    ) -> Result<(), Failure> {
        let window = self.args.window;
        let mut next = Instant::now();
        loop {
            next = Instant::now().max(next + self.args.sampled.delay);
            sleep(next.saturating_duration_since(Instant::now()));
            if !site.has_viewers() {
                if !recording.goes_on() {
                    return Ok(());
                }
                continue;
            }
            let Some(bytes) = recording.capture(window) else { return Ok(()) };
            let (page, mut facts) = self.page(&Reader::new(&bytes?)?)?;
            facts["seconds"] = window.as_secs_f64().into();
            facts["own_percent"] = recording.own_percent().into();
            site.update(page, facts);
        }
    }

    /// Updates the site as the file grows, until the program ends.
    ///
    /// # Errors
    ///
    /// If the file is no capture anymore, or there is none.
    pub(super) fn follow_file(mut self, path: &Path, site: &Site) -> Result<Outcome, Failure> {
        loop {
            sleep(self.args.sampled.delay);
            if !site.has_viewers() || self.seen == Some(state_of(path)?) {
                continue;
            }
            let start = Instant::now();
            self.update_of_file(path, site)?;
            sleep(start.elapsed().saturating_mul(REST));
        }
    }

    /// Updates the site by a file as it is now.
    ///
    /// # Errors
    ///
    /// Those of the capture.
    pub(super) fn update_of_file(&mut self, path: &Path, site: &Site) -> Result<(), Failure> {
        let named = |error: &dyn core::fmt::Display| Failure(format!("{}: {error}", shown(path)));
        // Before it is read, as it may grow meanwhile.
        self.seen = Some(state_of(path)?);
        // It is not mapped: the program that writes it may cut it off.
        let file = File::open(path).map_err(|error| named(&error))?;
        let reader = Reader::from_file(file).map_err(|error| named(&error))?;
        let (page, facts) = self.page(&reader)?;
        site.update(page, facts);
        Ok(())
    }

    /// Makes the flame graph of a capture, with facts about it.
    fn page(&mut self, reader: &Reader<'_>) -> Result<(Vec<u8>, Value), Failure> {
        let Self { args, title, names, .. } = self;
        let symbol_args = args.sampled.naming(&args.symbols);
        let naming = symbol_args.naming(Some(NonZero::<usize>::MIN));
        let profile = names.with(|symbols| {
            let symbols = match symbols {
                Some(symbols) => symbols,
                None => symbols.insert(names::symbols(&symbol_args, reader.features(), Memory::default())?),
            };
            let mut options = ProfileOptions::default();
            options.detail = SampleDetail { times: TimeDetail::Spans, ..SampleDetail::default() };
            options.inlines = naming.inlines;
            let samples = Samples::of(reader).threads(naming.threads.get());
            samples.profile_with(symbols, &options, &mut ()).map_err(selection::failure)
        })?;
        let facts = facts(profile.samples().len(), profile.account());
        let mut options = flamegraph::Options::default();
        options.captures = vec![title.clone()];
        let mut page = Vec::new();
        flamegraph::write(&[profile], &options, &mut page)?;
        Ok((page, facts))
    }
}

/// Returns the facts about a page, as an object.
fn facts(samples: usize, account: &Account) -> Value {
    let lost = account.lost.saturating_add(account.lost_samples);
    json!({ "samples": samples, "lost": lost, "faults": account.faults() })
}

/// Returns what distinguishes a file from itself after a change.
fn state_of(path: &Path) -> Result<FileState, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| Failure(format!("{}: {error}", shown(path))))?;
    Ok((metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}
