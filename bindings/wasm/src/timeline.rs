//! The activity of threads over time.

use core::num::NonZero;

use perf_profile::{Profile, ThreadStrip, ThreadTimeline, event_name};
use wasm_bindgen::JsValue;

use crate::object::{Members, list, number};

/// Returns the samples of each thread in each part of the time.
pub(crate) fn value(profile: &Profile, parts: NonZero<usize>) -> JsValue {
    let Some(timeline) = ThreadTimeline::of(profile, parts) else { return JsValue::UNDEFINED };
    let events = timeline.events.iter().map(|it| {
        let members = Members::default();
        members.text("name", Some(&event_name(&it.event.event)));
        members.count("most", it.most());
        members.set("threads", list(it.strips.iter().map(strip)));
        members
    });
    let members = Members::default();
    members.set("span", list([timeline.span.0, timeline.span.1]));
    members.count("part", timeline.part);
    members.set("events", list(events));
    members.into()
}

fn strip(strip: &ThreadStrip<'_>) -> Members {
    let members = Members::default();
    members.set("pid", strip.pid);
    members.set("tid", strip.tid);
    members.text("comm", Some(strip.comm));
    members.count("total", strip.total());
    members.set("samples", list(strip.samples.iter().map(|count| number(*count))));
    members
}
