//! The selection of spans of time.

use core::fmt::{Display, Formatter};
use core::ops::RangeInclusive;
use core::str::FromStr;

use perf_parse::file::{EventRecords, Reader};
use perf_parse::index::Chunk;

use super::events::EventFilter;
use crate::capture_info::CaptureInfo;
use crate::error::{ProfileError, SelectionField};

/// Spans of time of a capture. The default is all of it.
///
/// They are parsed from one of these forms:
///
/// - seconds: `12.5,13`, where either may be left out, and several spans are separated by blanks,
/// - shares of the capture: `10%/2` is the second tenth, `10%-20%` a part, `10%` the first tenth; several are separated by
///   commas,
/// - events: `app:request..app:response`, from each sample of the first event to the next one of the second; without a name,
///   the start or the end of the capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeSpans {
    form: SpanForm,
    text: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum SpanForm {
    #[default]
    All,
    Seconds(Vec<TimeSpan>),
    /// Start and end, from 0 to 1.
    Shares(Vec<(f64, f64)>),
    /// The names of the events, which may be empty.
    Between(String, String),
}

/// The spans of a capture, in nanoseconds of its clock. They are in order, and neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanSet(Option<Vec<TimeSpan>>);

/// The first and the last nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimeSpan {
    first: u64,
    last: u64,
}

/// A sample of one of the events that spans are between.
#[derive(Clone, Copy, Debug)]
struct SpanBoundary {
    time: u64,
    begins: bool,
    ends: bool,
}

impl TimeSpans {
    /// Returns whether no time is left out.
    #[must_use]
    pub fn are_all(&self) -> bool {
        matches!(self.form, SpanForm::All)
    }

    /// Returns the spans in a capture. Shares and events may need another walk over all of its records.
    ///
    /// # Errors
    ///
    /// If the capture does not have an event, or is a stream, which cannot be read for the times that are needed.
    pub fn resolve(&self, reader: &Reader<'_>) -> Result<SpanSet, ProfileError> {
        self.resolve_in(reader.into(), || reader.can_walk_again().then(|| reader.records()))
    }

    /// Does what [`resolve`](Self::resolve) does, with what is known of the capture. `records` are all of its records, in its
    /// order; `None` for a stream.
    pub(crate) fn resolve_in<'r>(
        &self,
        info: CaptureInfo<'_>,
        records: impl FnOnce() -> Option<EventRecords<'r>>,
    ) -> Result<SpanSet, ProfileError> {
        match &self.form {
            SpanForm::All => Ok(SpanSet::default()),
            SpanForm::Seconds(spans) => Ok(SpanSet::of(spans.clone())),
            SpanForm::Shares(shares) => {
                let (first, last) = bounds(info, records, &self.text)?;
                Ok(SpanSet::of(shares.iter().map(|&share| span_of(share, first, last)).collect()))
            }
            SpanForm::Between(from, to) => spans_between_events(info, records, &self.text, (from, to)),
        }
    }
}

/// perf: `perf_time__parse_for_ranges`, `tools/perf/util/time-utils.c`.
impl FromStr for TimeSpans {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let form = if let Some((from, to)) = text.split_once("..") {
            if from.is_empty() && to.is_empty() {
                let what = "name an event before or after the dots, for example app:request..app:response";
                return Err(ProfileError::time(text, what));
            }
            SpanForm::Between(from.to_owned(), to.to_owned())
        } else if text.contains('%') {
            let shares = text.split(',').map(|part| shares(part.trim())).collect::<Option<_>>();
            let must = "a part of the capture is written as 10%/2 or as 10%-20%";
            SpanForm::Shares(shares.ok_or_else(|| ProfileError::time(text, must))?)
        } else {
            let spans: Option<Vec<_>> = text.split_whitespace().map(seconds_span).collect();
            let must = "must be A,B in seconds, with A not greater than B, for example 12.5,13 or 12.5,";
            let spans = spans.filter(|spans| !spans.is_empty());
            SpanForm::Seconds(spans.ok_or_else(|| ProfileError::time(text, must))?)
        };
        Ok(Self { form, text: text.to_owned() })
    }
}

impl Display for TimeSpans {
    /// Writes the text that was parsed; nothing for all times.
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.text)
    }
}

impl SpanSet {
    /// Returns the spans between marks, which are in time order: each from one that begins a span to the next one that ends
    /// it, or to the end of the capture. `from_start` is whether the first span begins with the capture.
    fn between(marks: impl Iterator<Item = SpanBoundary>, from_start: bool) -> Self {
        let mut begin = from_start.then_some(0);
        let mut spans = Vec::new();
        for SpanBoundary { time, begins, ends } in marks {
            if ends && let Some(first) = begin.take() {
                spans.push(TimeSpan { first, last: time });
            }
            if begins && begin.is_none() {
                begin = Some(time);
            }
        }
        spans.extend(begin.map(|first| TimeSpan { first, last: u64::MAX }));
        Self::of(spans)
    }

    fn of(mut spans: Vec<TimeSpan>) -> Self {
        spans.sort_unstable_by_key(|span| span.first);
        spans.dedup_by(|next, span| {
            let touches = next.first <= span.last.saturating_add(1);
            if touches {
                span.last = span.last.max(next.last);
            }
            touches
        });
        Self(Some(spans))
    }

    fn is_empty(&self) -> bool {
        self.0.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns whether no time is left out.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the times from the start of the first span to the end of the last one; `None` if no time is left out.
    pub(crate) fn hull(&self) -> Option<RangeInclusive<u64>> {
        let spans = self.0.as_ref()?;
        Some(spans.first()?.first..=spans.last()?.last)
    }

    /// Returns whether one of these times may be in a span.
    #[must_use]
    pub fn overlaps(&self, times: &RangeInclusive<u64>) -> bool {
        self.last_before(*times.end()).is_none_or(|span| span.is_some_and(|span| *times.start() <= span.last))
    }

    /// Returns whether a part of a capture may have samples in a span.
    pub(crate) fn may_be_in(&self, part: &Chunk<'_>) -> bool {
        // A sample without a time counts as one of time 0.
        self.contains(0) || part.times().is_some_and(|times| self.overlaps(&times))
    }

    /// Returns whether a time is in a span.
    #[inline]
    #[must_use]
    pub fn contains(&self, time: u64) -> bool {
        self.last_before(time).is_none_or(|span| span.is_some_and(|span| time <= span.last))
    }

    /// Returns the last span that begins at a time or before it, if there is one; `None` if no time is left out.
    #[inline]
    fn last_before(&self, time: u64) -> Option<Option<&TimeSpan>> {
        let spans = self.0.as_ref()?;
        let after = spans.partition_point(|span| span.first <= time);
        Some(after.checked_sub(1).and_then(|last| spans.get(last)))
    }
}

/// Returns the times of the first and the last sample.
fn bounds<'r>(
    info: CaptureInfo<'_>,
    records: impl FnOnce() -> Option<EventRecords<'r>>,
    text: &str,
) -> Result<(u64, u64), ProfileError> {
    if let Ok(Some(times)) = info.features().sample_time() {
        return Ok((times.first, times.last));
    }
    let what = "percents need the times of the first and the last sample";
    let records = records().ok_or_else(|| of_stream(text, what))?.filter_map(Result::ok);
    let times = records.filter_map(|record| record.sample()?.time());
    Ok(times.fold((u64::MAX, 0), |(first, last), time| (first.min(time), last.max(time))))
}

/// Returns the spans from each sample of an event to the next one of another.
fn spans_between_events<'r>(
    info: CaptureInfo<'_>,
    records: impl FnOnce() -> Option<EventRecords<'r>>,
    text: &str,
    (from, to): (&str, &str),
) -> Result<SpanSet, ProfileError> {
    let event = |name: &str| {
        (!name.is_empty()).then(|| EventFilter::of(info, SelectionField::Time, name)).transpose()
    };
    let (begin, end) = (event(from)?, event(to)?);
    let what = "spans between events need the times of their samples";
    let mut records = records().ok_or_else(|| of_stream(text, what))?.in_time_order();
    let boundaries = core::iter::from_fn(|| {
        loop {
            let Ok(record) = records.next()? else { continue };
            let Some((event, time)) = record.event().zip(record.sample().and_then(|it| it.time())) else {
                continue;
            };
            let is = |filter: &Option<EventFilter>| filter.as_ref().is_some_and(|filter| filter.wants(event));
            return Some(SpanBoundary { time, begins: is(&begin), ends: is(&end) });
        }
    });
    let spans = SpanSet::between(boundaries, begin.is_none());
    if spans.is_empty() {
        return Err(ProfileError::time(text, format!("there is no sample of {from}")));
    }
    Ok(spans)
}

/// Returns the error of a stream, whose records cannot be read before the walk that uses them.
fn of_stream(text: &str, what: &str) -> ProfileError {
    let instead = "which a stream does not have; give spans in seconds, or a file";
    ProfileError::time(text, format!("{what}, {instead}"))
}

fn seconds_span(text: &str) -> Option<TimeSpan> {
    let (first, last) = text.split_once(',')?;
    let first = if first.is_empty() { 0 } else { nanoseconds(first)? };
    let last = if last.is_empty() { u64::MAX } else { nanoseconds(last)? };
    (first <= last).then_some(TimeSpan { first, last })
}

/// Parses seconds with up to nine decimal places; `None` for anything else.
#[must_use]
pub fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// Parses `10%/2`, the second tenth, `10%-20%`, or `10%`, the first tenth.
fn shares(text: &str) -> Option<(f64, f64)> {
    let share = |text: &str| Some(text.strip_suffix('%')?.parse::<f64>().ok()? / 100.0);
    let (start, end) = if let Some((part, number)) = text.split_once('/') {
        let (part, number) = (share(part).filter(|&part| part > 0.0)?, number.parse::<i32>().ok()?);
        (part * f64::from(number.checked_sub(1)?), part * f64::from(number))
    } else {
        let (start, end) = text.split_once('-').unwrap_or(("0%", text));
        (share(start)?, share(end)?)
    };
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    (is_share(start) && is_share(end)).then_some((start, end))
}

/// Returns the span of shares of the time from `first` to `last`.
fn span_of((start, end): (f64, f64), first: u64, last: u64) -> TimeSpan {
    let total = last.saturating_sub(first) as f64;
    let at = |share: f64| first.saturating_add((share * total).round() as u64);
    let (first, mut end) = (at(start), at(end));
    // The end of a part belongs to the next one.
    if end > first && end != last {
        end -= 1;
    }
    TimeSpan { first, last: end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(list: &[(u64, u64)]) -> SpanSet {
        SpanSet::of(list.iter().map(|&(first, last)| TimeSpan { first, last }).collect())
    }

    #[test]
    fn seconds_are_exact_to_the_nanosecond() {
        assert_eq!(nanoseconds("18446744073.709551615"), Some(u64::MAX));
        assert_eq!(nanoseconds("12.5"), Some(12_500_000_000));
        assert_eq!(nanoseconds("12"), Some(12_000_000_000));
        assert_eq!(nanoseconds("18446744073.709551616"), None);
        assert_eq!(nanoseconds("1.0000000001"), None);
        assert_eq!(nanoseconds("-1"), None);
        assert_eq!(nanoseconds("+1"), None);
    }

    #[test]
    fn an_end_left_out_is_open() {
        let parse = |text: &str| match text.parse::<TimeSpans>().ok()?.form {
            SpanForm::Seconds(spans) => Some(SpanSet::of(spans)),
            other => unreachable!("{other:?}"),
        };
        assert_eq!(parse("1,2"), Some(spans(&[(1_000_000_000, 2_000_000_000)])));
        assert_eq!(parse(",2 5,6"), Some(spans(&[(0, 2_000_000_000), (5_000_000_000, 6_000_000_000)])));
        assert_eq!(parse("1,"), Some(spans(&[(1_000_000_000, u64::MAX)])));
        assert_eq!(parse("1"), None);
        assert_eq!(parse("5,3"), None);
        assert!(SpanSet::default().is_all() && !spans(&[(0, u64::MAX)]).is_all());
    }

    #[test]
    fn spans_that_overlap_or_touch_become_one() {
        let it = spans(&[(30, 40), (5, 10), (11, 12), (35, 50), (60, 60)]);
        assert_eq!(it.0.as_ref().unwrap().len(), 3);
        let is_in = |time: &u64| it.contains(*time);
        let expected: Vec<u64> = (5..=12).chain(30..=50).chain([60]).collect();
        assert_eq!((0..100).filter(is_in).collect::<Vec<_>>(), expected);
        assert!(SpanSet::default().contains(7) && !spans(&[]).contains(7));
        assert_eq!((it.hull(), SpanSet::default().hull()), (Some(5..=60), None));
    }

    #[test]
    fn spans_between_marks() {
        let mark = |(time, what): &(u64, char)| SpanBoundary {
            time: *time,
            begins: matches!(what, 'a' | 'x'),
            ends: matches!(what, 'b' | 'x'),
        };
        let between =
            |marks: &[(u64, char)], from_start| SpanSet::between(marks.iter().map(mark), from_start);
        // A second start in a span changes nothing, nor does an end outside of one.
        let marks = [(1, 'b'), (10, 'a'), (12, 'a'), (20, 'b'), (25, 'b'), (30, 'a')];
        assert_eq!(between(&marks, false), spans(&[(10, 20), (30, u64::MAX)]));
        assert_eq!(between(&marks, true), spans(&[(0, 1), (10, 20), (30, u64::MAX)]));
        // The same event begins and ends.
        assert_eq!(between(&[(5, 'x'), (9, 'x')], false), spans(&[(5, u64::MAX)]));
        assert!(between(&[(1, 'b')], false).is_empty());
    }

    #[test]
    fn shares_are_parts_of_the_time() {
        let span = |text: &str| shares(text).map(|it| span_of(it, 1000, 2000)).map(|it| (it.first, it.last));
        assert_eq!(span("10%/2"), Some((1100, 1199)));
        assert_eq!(span("10%-20%"), Some((1100, 1199)));
        assert_eq!(span("10%"), Some((1000, 1099)));
        assert_eq!(span("50%/2"), Some((1500, 2000)));
        for text in ["101%", "10", "0%/1", "10%/0", "20%/6", "-1%-10%", "10%/x"] {
            assert_eq!(span(text), None, "{text}");
        }
    }

    #[test]
    fn an_error_names_the_value_and_what_to_write() {
        let error = |text: &str| text.parse::<TimeSpans>().unwrap_err().to_string();
        assert!(error("5,3").starts_with("time 5,3: must be A,B in seconds"));
        assert!(error("").starts_with("time : must be A,B in seconds"));
        assert!(error("101%").contains("10%/2 or as 10%-20%"));
        assert!(error("..").contains("name an event before or after the dots"));
        assert_eq!("1,2 3,".parse::<TimeSpans>().unwrap().to_string(), "1,2 3,");
    }
}
