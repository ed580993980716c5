//! Flame graphs: a page for a browser, and a static picture.
//!
//! The page is one file, which loads nothing from elsewhere. It has all samples with their threads and times, and finds what
//! to show itself. Its policy (`Content-Security-Policy`) allows its own script and style alone, by their hashes.

mod annotated;
mod events;
mod functions;
mod lines;
mod meta;
mod page;
mod samples;
mod svg;
mod threads;
mod tree;

use std::io::{self, Write};
use std::num::NonZero;

use perf_profile::{
    CallTree, Profile,
    annotation::Annotation,
    diff::{ChangedFile, DiffSide, Normalize, changed},
    text::OneLine,
};

use events::FlameEvents;
use functions::FlameFunctions;
use lines::FlameLines;
use samples::FlameSamples;
use threads::FlameThreads;
use tree::FlameTree;

/// The kind of document that a flame graph is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlameDocument {
    /// A page in HTML with a script: all samples, events, threads and times, to search and zoom.
    #[default]
    Page,
    /// A static picture in SVG of one event, without a script.
    Svg,
}

/// Options of a flame graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// A page or a picture.
    pub document: FlameDocument,
    /// Names of the captures, in the order of the profiles. A capture without a name gets its number.
    pub captures: Vec<Vec<u8>>,
    /// Name of the event that a page shows first, and of the only one that a picture shows. `None`, or a name that no capture
    /// has, chooses the first event.
    pub event: Option<Vec<u8>>,
    /// Compares two captures, and scales them so that they are comparable: the first is before, the second after, and colours
    /// show the difference. Further captures are added to the second. `None` adds all captures together.
    pub compare: Option<Normalize>,
    /// Number of threads that make a page; a picture uses one. The output is the same for any number.
    pub threads: NonZero<usize>,
    /// Functions with their instructions and source lines, those with most samples first. A page shows them where their frames are
    /// clicked; a picture leaves them out. Empty for a page without them.
    pub annotations: Vec<Annotation>,
}

impl Default for Options {
    /// A page without names that shows the first event, made on one thread.
    fn default() -> Self {
        Self {
            document: FlameDocument::default(),
            captures: Vec::new(),
            event: None,
            compare: None,
            threads: NonZero::<usize>::MIN,
            annotations: Vec::new(),
        }
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

/// Writes a flame graph of all captures.
///
/// A page has the samples of all events; samples of events with the same name are added together. For times, the profiles need
/// [`TimeDetail::Spans`](perf_profile::TimeDetail::Spans) or [`TimeDetail::Each`](perf_profile::TimeDetail::Each). The page
/// divides the time into 2,048 parts, or into the 512 to 1,024 spans that the profiles have.
///
/// A picture leaves out frames narrower than a thousandth, and states their number. If there are several threads, the outermost
/// frame is the name of the thread. In a comparison, the widths are those of the second capture.
///
/// Costs memory for the nodes of the tree of functions, and for each distinct combination of event, function, thread and
/// part of the time.
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
    match options.document {
        FlameDocument::Page => write_page(profiles, options, out),
        FlameDocument::Svg => svg::write(profiles, options, out),
    }
}

fn write_page(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut functions = FlameFunctions::default();
    let mut builder = CallTree::default();
    let mut lines = FlameLines::default();
    let mut node_of = Vec::new();
    for profile in profiles {
        let of_frames = functions.of_frames(profile);
        lines.add(profile, &of_frames);
        node_of.push(builder.add_stacks(profile, &of_frames));
    }
    let functions = functions.sorted();
    let lines = lines.by_rank(&functions.ranks);
    let tree = FlameTree::new(builder, &functions.ranks);
    let events = FlameEvents::of(profiles);
    let threads = FlameThreads::of(profiles);
    let node_of: Vec<Vec<u32>> =
        node_of.iter().map(|of| of.iter().map(|&node| tree.number_of(node)).collect()).collect();
    let samples = FlameSamples::of(profiles, &events, &threads, &node_of, options.threads);
    let meta = meta::FlameMeta {
        profiles,
        options,
        functions: &functions,
        lines: &lines,
        events: &events,
        threads: &threads,
        samples: &samples,
    };
    let annotations = annotated::json(&options.annotations, profiles, &functions);
    let parts = page::PageParts {
        title: &options.title(profiles),
        meta: &meta.json(&tree),
        functions: &functions.bytes(&lines),
        tree: &tree.bytes(),
        samples: &samples.bytes,
        annotations: annotations.as_ref(),
    };
    page::write(&parts, out)
}

/// Returns the files whose build id is another one in the second capture of a comparison: name, before, after.
fn changed_files(profiles: &[Profile]) -> Vec<[String; 3]> {
    let [before, after, ..] = profiles else { return Vec::new() };
    let sides = [before, after].map(|profile| DiffSide { profile, event: 0 });
    let text = |it: &ChangedFile| {
        let [before, after] = it.shown_ids();
        [OneLine(&it.name).to_string(), before, after]
    };
    changed(sides).iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(annotations: Vec<Annotation>) -> String {
        let options = Options { annotations, ..Options::default() };
        let mut page = Vec::new();
        write(&[], &options, &mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn only_a_page_with_annotated_functions_has_their_panel() {
        assert!(!page(Vec::new()).contains("annotation"));
        let mut annotation = Annotation::default();
        annotation.symbol = b"</script><img src=x onerror=alert(1)>"[..].into();
        let page = page(vec![annotation]);
        assert!(page.contains(r#"<section id="annotation""#) && !page.contains("<img"));
        // Other crates of a build decide the order of members.
        assert!(page.contains(r#"id="data-annotations">{"#) && page.contains(r#""functions":[{"#));
        // A picture has no use for them.
        let options = Options {
            document: FlameDocument::Svg,
            annotations: vec![Annotation::default()],
            ..Options::default()
        };
        let mut picture = Vec::new();
        write(&[], &options, &mut picture).unwrap();
        assert!(!String::from_utf8(picture).unwrap().contains("annotation"));
    }
}
