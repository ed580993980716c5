//! Notes on an annotated function: reasons to doubt it, and what is not known of it.

use perf_profile::annotation::Annotation;
use perf_symbol::CodeOrigin;

use super::view::AnnotationView;

/// Returns the notes on what a view shows, in one line; empty without any.
pub(super) fn notes(view: &AnnotationView) -> String {
    let annotation = &view.annotation;
    let mut notes = Vec::new();
    match view.event() {
        None => notes.push("the function has no samples".to_owned()),
        // perf: the same of events without a modifier `p`.
        Some(event) if event.precise_ip == 0 => {
            notes.push("skid: samples may be at an instruction after their cause".to_owned());
        }
        Some(_) => {}
    }
    if let Some(guess) = annotation.guess {
        notes.push(format!("the name is a guess ({guess})"));
    }
    if annotation.origin != CodeOrigin::File {
        notes.push(format!("code of {}", annotation.origin.name()));
    }
    notes.extend(source_note(annotation));
    if annotation.sources.iter().any(|source| source.is_newer) {
        notes.push("source modified after the recording".to_owned());
    }
    notes.join("; ")
}

/// Returns what is missing of the source; `None` if nothing is.
fn source_note(annotation: &Annotation) -> Option<String> {
    if annotation.lines.is_empty() {
        return Some("no line information".to_owned());
    }
    let all = annotation.sources.len();
    match annotation.sources.iter().filter(|source| source.text.is_empty()).count() {
        0 => None,
        missing if missing == all => Some("source not found".to_owned()),
        missing => Some(format!("source of {missing} of {all} files not found")),
    }
}
