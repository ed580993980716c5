//! Spans of time on the command line, and times in lines.

use core::ops::RangeInclusive;

use perf_parse::file::Reader;

use crate::Failure;
use crate::event_filter::EventFilter;

/// The spans of `--time`; `None` for all of the capture. They are in order, and neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans(Option<Vec<Span>>);

/// The first and the last nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: u64,
    last: u64,
}

/// A sample of one of the events that spans are between.
#[derive(Clone, Copy, Debug)]
struct Mark {
    time: u64,
    begins: bool,
    ends: bool,
}

impl Spans {
    /// Parses the argument of `--time`; all of the capture without one.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and that a stream cannot be read before its walk for the times that it needs.
    pub(crate) fn new(reader: &Reader<'_>, text: Option<&str>) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self::default()) };
        if let Some((from, to)) = text.split_once("..") {
            return spans_between_events(reader, text, from, to);
        }
        Self::parse(text, || bounds(reader, text))
    }

    /// Parses spans in seconds or percents. `bounds` are the times of the first and the last sample, which percents need.
    ///
    /// perf: `perf_time__parse_for_ranges`, `tools/perf/util/time-utils.c`.
    fn parse(text: &str, bounds: impl FnOnce() -> Result<(u64, u64), Failure>) -> Result<Self, Failure> {
        let fault = |what: &str| Failure(format!("--time {text}: {what}"));
        if text.contains('%') {
            let (first, last) = bounds()?;
            let spans = text.split(',').map(|part| percents(part.trim(), first, last)).collect::<Option<_>>();
            let must = "a part of the capture is written as 10%/2 or as 10%-20%";
            return spans.map(Self::of).ok_or_else(|| fault(must));
        }
        let spans: Option<Vec<_>> = text.split_whitespace().map(seconds_span).collect();
        let must = "must be A,B in seconds, with A not greater than B, for example 12.5,13 or 12.5,";
        match spans {
            Some(spans) if !spans.is_empty() => Ok(Self::of(spans)),
            _ => Err(fault(must)),
        }
    }

    /// Returns the spans between marks, which are in time order: each from one that begins a span to the next one that ends
    /// it, or to the end of the capture. `from_start` is whether the first span begins with the capture.
    fn between(marks: impl Iterator<Item = Mark>, from_start: bool) -> Self {
        let mut begin = from_start.then_some(0);
        let mut spans = Vec::new();
        for Mark { time, begins, ends } in marks {
            if ends && let Some(first) = begin.take() {
                spans.push(Span { first, last: time });
            }
            if begins && begin.is_none() {
                begin = Some(time);
            }
        }
        spans.extend(begin.map(|first| Span { first, last: u64::MAX }));
        Self::of(spans)
    }

    fn of(mut spans: Vec<Span>) -> Self {
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
    pub(crate) fn are_all(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether one of these times may be in a span.
    pub(crate) fn overlap(&self, times: &RangeInclusive<u64>) -> bool {
        let Some(spans) = &self.0 else { return true };
        let after = spans.partition_point(|span| span.first <= *times.end());
        after > 0 && *times.start() <= spans[after - 1].last
    }

    /// Returns whether a time is in a span.
    #[inline]
    pub(crate) fn contain(&self, time: u64) -> bool {
        let Some(spans) = &self.0 else { return true };
        let after = spans.partition_point(|span| span.first <= time);
        after > 0 && time <= spans[after - 1].last
    }
}

/// Returns the times of the first and the last sample.
fn bounds(reader: &Reader<'_>, text: &str) -> Result<(u64, u64), Failure> {
    if let Ok(Some(times)) = reader.features().sample_time() {
        return Ok((times.first, times.last));
    }
    let what = "percents need the times of the first and the last sample";
    check_walk_again(reader, text, what)?;
    let records = reader.records().filter_map(Result::ok);
    let times = records.filter_map(|record| record.sample()?.time());
    Ok(times.fold((u64::MAX, 0), |(first, last), time| (first.min(time), last.max(time))))
}

/// Returns the spans from each sample of an event to the next one of another.
fn spans_between_events(reader: &Reader<'_>, text: &str, from: &str, to: &str) -> Result<Spans, Failure> {
    let event = |name: &str| -> Result<Option<EventFilter>, Failure> {
        (!name.is_empty()).then(|| EventFilter::new(reader, "--time", name)).transpose()
    };
    let (begin, end) = (event(from)?, event(to)?);
    if begin.is_none() && end.is_none() {
        let what = "name an event before or after the dots, for example app:request..app:response";
        return Err(Failure(format!("--time {text}: {what}")));
    }
    check_walk_again(reader, text, "spans between events need the times of their samples")?;
    let mut records = reader.records().in_time_order();
    let marks = core::iter::from_fn(|| {
        loop {
            let Ok(record) = records.next()? else { continue };
            let Some((event, time)) = record.event().zip(record.sample().and_then(|it| it.time())) else {
                continue;
            };
            let is = |filter: &Option<EventFilter>| filter.as_ref().is_some_and(|filter| filter.wants(event));
            return Some(Mark { time, begins: is(&begin), ends: is(&end) });
        }
    });
    let spans = Spans::between(marks, begin.is_none());
    if spans.is_empty() {
        return Err(Failure(format!("--time {text}: there is no sample of {from}")));
    }
    Ok(spans)
}

/// Checks that the records can be read before the walk that uses them.
fn check_walk_again(reader: &Reader<'_>, text: &str, what: &str) -> Result<(), Failure> {
    if reader.can_walk_again() {
        return Ok(());
    }
    let instead = "which a stream does not have; give spans in seconds, or a file";
    Err(Failure(format!("--time {text}: {what}, {instead}")))
}

fn seconds_span(text: &str) -> Option<Span> {
    let (first, last) = text.split_once(',')?;
    let first = if first.is_empty() { 0 } else { nanoseconds(first)? };
    let last = if last.is_empty() { u64::MAX } else { nanoseconds(last)? };
    (first <= last).then_some(Span { first, last })
}

/// Parses seconds with up to nine decimal places.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 9 || !digits(whole) || !digits(fraction) {
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
    Some(Span { first, last: end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(list: &[(u64, u64)]) -> Spans {
        Spans::of(list.iter().map(|&(first, last)| Span { first, last }).collect())
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
        let parse = |text| Spans::parse(text, || unreachable!("no percents")).ok();
        assert_eq!(parse("1,2"), Some(spans(&[(1_000_000_000, 2_000_000_000)])));
        assert_eq!(parse(",2 5,6"), Some(spans(&[(0, 2_000_000_000), (5_000_000_000, 6_000_000_000)])));
        assert_eq!(parse("1,"), Some(spans(&[(1_000_000_000, u64::MAX)])));
        assert_eq!(parse("1"), None);
        assert_eq!(parse("5,3"), None);
        assert!(Spans::default().are_all() && !spans(&[(0, u64::MAX)]).are_all());
    }

    #[test]
    fn spans_that_overlap_or_touch_become_one() {
        let it = spans(&[(30, 40), (5, 10), (11, 12), (35, 50), (60, 60)]);
        assert_eq!(it.0.as_ref().unwrap().len(), 3);
        let is_in = |time: &u64| it.contain(*time);
        let expected: Vec<u64> = (5..=12).chain(30..=50).chain([60]).collect();
        assert_eq!((0..100).filter(is_in).collect::<Vec<_>>(), expected);
        assert!(Spans::default().contain(7) && !spans(&[]).contain(7));
    }

    #[test]
    fn spans_between_marks() {
        let mark = |(time, what): &(u64, char)| Mark {
            time: *time,
            begins: matches!(what, 'a' | 'x'),
            ends: matches!(what, 'b' | 'x'),
        };
        let between = |marks: &[(u64, char)], from_start| Spans::between(marks.iter().map(mark), from_start);
        // A second start in a span changes nothing, nor does an end outside of one.
        let marks = [(1, 'b'), (10, 'a'), (12, 'a'), (20, 'b'), (25, 'b'), (30, 'a')];
        assert_eq!(between(&marks, false), spans(&[(10, 20), (30, u64::MAX)]));
        assert_eq!(between(&marks, true), spans(&[(0, 1), (10, 20), (30, u64::MAX)]));
        // The same event begins and ends.
        assert_eq!(between(&[(5, 'x'), (9, 'x')], false), spans(&[(5, u64::MAX)]));
        assert!(between(&[(1, 'b')], false).is_empty());
    }
}
