//! Flame graphs: a page for a browser, and a static picture.
//!
//! The page is one file, which loads nothing from elsewhere. It has all samples with their threads and times, and finds what
//! to show itself. Its policy (`Content-Security-Policy`) allows its own script and style alone, by their hashes.

mod events;
mod functions;
mod meta;
mod numbers;
mod page;
mod samples;
mod svg;
mod threads;
mod tree;
mod xml;

use std::io::{self, Write};
use std::num::NonZero;

use events::Events;
use functions::Functions;
use perf_profile::CallTree;
use perf_profile::Profile;
use perf_profile::diff::{Changed, Normalize, Side, changed};
use perf_profile::text::OneLine;
use samples::Samples;
use threads::Threads;
use tree::Tree;

/// What the page and the picture say about the captures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The names of the captures, in the order of the profiles. A capture without a name gets its number.
    pub captures: Vec<Vec<u8>>,
    /// The name of the event that a page begins with, and that a picture shows. Without it, and if no capture has it, that is
    /// the first one.
    pub event: Option<Vec<u8>>,
    /// Whether two captures are compared, and what makes them comparable: frames of the first one are before those of the
    /// second one, and colours say by how much they differ. Further captures are taken as the second one. `None` adds the
    /// captures together.
    pub compare: Option<Normalize>,
    /// The number of threads that make a page. It is the same for any number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    /// No names, the first event, and one thread.
    fn default() -> Self {
        Self { captures: Vec::new(), event: None, compare: None, threads: NonZero::<usize>::MIN }
    }
}

impl Options {
    fn capture(&self, index: usize) -> String {
        let name = self.captures.get(index).map(|name| OneLine(name).to_string());
        name.unwrap_or_else(|| format!("capture {}", index + 1))
    }

    fn title(&self, profiles: &[Profile]) -> String {
        let names: Vec<_> = (0..profiles.len()).map(|index| self.capture(index)).collect();
        names.join(if self.compare.is_some() { " \u{2192} " } else { ", " })
    }
}

/// Writes a page with the samples of all captures and events. Samples of events with the same name are together. For the
/// times, the profiles need [`Times::Spans`](perf_profile::Times::Spans), or [`Times::Each`](perf_profile::Times::Each).
///
/// The page divides the time into 512 parts; if the profiles have spans of time, into those, which are 512 to 1,024.
/// Takes memory for the nodes of the tree of functions, and for what the samples have in common: event, function, thread,
/// and part of the time.
///
/// # Errors
///
/// Those of `out`.
///
/// # Examples
///
/// ```
/// use perf_export::flamegraph;
///
/// let mut page = Vec::new();
/// flamegraph::write(&[], &flamegraph::Options::default(), &mut page)?;
/// assert!(page.starts_with(b"<!doctype html>"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut functions = Functions::default();
    let mut builder = CallTree::default();
    let node_of: Vec<_> =
        profiles.iter().map(|profile| builder.add_stacks(profile, &functions.of_frames(profile))).collect();
    let functions = functions.sorted();
    let tree = Tree::new(builder, &functions.ranks);
    let events = Events::of(profiles);
    let threads = Threads::of(profiles);
    let node_of: Vec<Vec<u32>> =
        node_of.iter().map(|of| of.iter().map(|&node| tree.number_of(node)).collect()).collect();
    let samples = Samples::of(profiles, &events, &threads, &node_of, options.threads);
    let meta = meta::Meta {
        profiles,
        options,
        functions: &functions,
        events: &events,
        threads: &threads,
        samples: &samples,
    };
    let parts = page::Parts {
        title: &options.title(profiles),
        meta: &meta.json(&tree),
        functions: &functions.bytes(),
        tree: &tree.bytes(),
        samples: &samples.bytes,
    };
    page::write(&parts, out)
}

/// Returns the files whose build id is another one in the second capture of a comparison: name, before, after.
fn changed_files(profiles: &[Profile]) -> Vec<[String; 3]> {
    let [before, after, ..] = profiles else { return Vec::new() };
    let sides = [before, after].map(|profile| Side { profile, event: 0 });
    let text = |it: &Changed| {
        let [before, after] = it.shown_ids();
        [OneLine(&it.name).to_string(), before, after]
    };
    changed(sides).iter().map(text).collect()
}

/// Writes a picture in SVG of the [chosen](Options::event) event, or the first one that has samples, without a script. Frames narrower than a thousandth are
/// left out, and the picture says how many. The outermost frame is the name of the thread if there are several. Of a
/// comparison, the widths are those of the second capture.
///
/// # Errors
///
/// Those of `out`.
pub fn write_svg(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    svg::write(profiles, options, out)
}
