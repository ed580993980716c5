//! Spans of time on the command line, and times in lines.

use crate::Failure;

/// The spans of `--time`; empty for all of the capture.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans(Vec<Span>);

#[derive(Clone, Copy, Debug)]
struct Span {
    first: u64,
    /// The last nanosecond; `None` for the end of the capture.
    last: Option<u64>,
}

impl Spans {
    /// Parses the argument. `bounds` are the times of the first and the last sample, which percents need.
    ///
    /// perf: `perf_time__parse_for_ranges`, `tools/perf/util/time-utils.c`.
    pub(super) fn new(
        text: &str,
        bounds: impl FnOnce() -> Result<(u64, u64), Failure>,
    ) -> Result<Self, Failure> {
        let fault = |what: &str| Failure(format!("--time {text}: {what}"));
        if text.contains('%') {
            let (first, last) = bounds()?;
            let spans = text.split(',').map(|part| percents(part.trim(), first, last)).collect::<Option<_>>();
            let must = "a part of the capture is written as 10%/2 or as 10%-20%";
            return spans.map(Self).ok_or_else(|| fault(must));
        }
        let spans: Option<Vec<_>> = text.split_whitespace().map(seconds_span).collect();
        let must = "must be A,B in seconds, with A not greater than B, for example 12.5,13 or 12.5,";
        match spans {
            Some(spans) if !spans.is_empty() => Ok(Self(spans)),
            _ => Err(fault(must)),
        }
    }

    pub(super) fn contain(&self, time: u64) -> bool {
        let is_in = |span: &Span| span.first <= time && span.last.is_none_or(|last| time <= last);
        self.0.is_empty() || self.0.iter().any(is_in)
    }
}

fn seconds_span(text: &str) -> Option<Span> {
    let (first, last) = text.split_once(',')?;
    let first = if first.is_empty() { 0 } else { nanoseconds(first)? };
    let last = if last.is_empty() { None } else { Some(nanoseconds(last)?) };
    last.is_none_or(|last| first <= last).then_some(Span { first, last })
}

/// Parses seconds with up to nine decimal places.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// Parses `10%/2`, the second tenth, `10%-20%`, or `10%`, the first tenth.
fn percents(text: &str, first: u64, last: u64) -> Option<Span> {
    let share = |text: &str| Some(text.strip_suffix('%')?.parse::<f64>().ok()? / 100.0);
    let (start, end) = if let Some((part, number)) = text.split_once('/') {
        let (part, number) = (share(part).filter(|&part| part > 0.0)?, number.parse::<i32>().ok()?);
        (part * f64::from(number.checked_sub(1)?), part * f64::from(number))
    } else {
        let (start, end) = text.split_once('-').unwrap_or(("0%", text));
        (share(start)?, share(end)?)
    };
    if !(0.0..=1.0).contains(&start) || !(0.0..=1.0).contains(&end) {
        return None;
    }
    let total = last.saturating_sub(first) as f64;
    let at = |share: f64| first.saturating_add((share * total).round() as u64);
    let (first, mut end) = (at(start), at(end));
    // The end of a part belongs to the next one.
    if end > first && end != last {
        end -= 1;
    }
    Some(Span { first, last: Some(end) })
}
