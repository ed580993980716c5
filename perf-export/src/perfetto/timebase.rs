//! Events and clocks as Perfetto describes them.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::{EventType, HwEvent, HwId, SwId};
use perf_parse::event::Event;
use perf_profile::{event_name, text::OneLine};

use super::messages::{PerfTracepoint, RawEvent, Timebase};

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceClock {
    /// `BuiltinClock`, `builtin_clock.proto`.
    pub(super) builtin: u32,
    /// `PerfEvents.PerfClock`, `perf_events.proto`; `None` if it has no number.
    of_event: Option<i32>,
}

/// `BUILTIN_CLOCK_REALTIME`.
pub(super) const REALTIME: u32 = 1;

/// `BUILTIN_CLOCK_BOOTTIME`: the clock of events of the scheduler, unless they tell another one.
pub(super) const BOOTTIME: u32 = 6;

/// Returns the clock of the times of an event: the kernel's own for events, unless it asked for another one that Perfetto
/// knows.
///
/// Linux: `CLOCK_*`, `include/uapi/linux/time.h`.
pub(super) fn clock(attr: Option<&Attr>) -> TraceClock {
    let asked = attr.filter(|attr| attr.flags.contains(AttrFlags::USE_CLOCKID)).map(|attr| attr.clockid);
    let (builtin, of_event) = match asked {
        Some(0) => (REALTIME, Some(1)),
        Some(1) => (3, Some(2)),
        Some(4) => (5, Some(3)),
        Some(7) => (BOOTTIME, Some(4)),
        // `BUILTIN_CLOCK_PERF`.
        _ => (10, None),
    };
    TraceClock { builtin, of_event }
}

/// Returns the description of an event.
pub(super) fn timebase(event: &Event) -> Timebase {
    let attr = &event.attr;
    let name = OneLine(&event_name(event)).to_string();
    let is_tracepoint = attr.kind == EventType::TRACEPOINT;
    let counter = counter(attr);
    let raw =
        RawEvent { r#type: attr.kind.0, config: attr.config, config1: attr.config1, config2: attr.config2 };
    let has_frequency = attr.flags.contains(AttrFlags::FREQ);
    let interval = Some(attr.sample_period).filter(|&interval| interval > 0);
    Timebase {
        period: interval.filter(|_| !has_frequency),
        frequency: interval.filter(|_| has_frequency),
        tracepoint: is_tracepoint.then(|| PerfTracepoint { name: name.clone() }),
        counter,
        raw_event: (!is_tracepoint && counter.is_none()).then_some(raw),
        name,
        timestamp_clock: clock(Some(attr)).of_event,
    }
}

/// Returns the number of an event of the kernel's own lists; `None` for others.
///
/// Perfetto: `PerfEvents.Counter`, `perf_events.proto`.
fn counter(attr: &Attr) -> Option<i32> {
    match attr.kind {
        EventType::HARDWARE => Some(match HwEvent::of(attr.config).id {
            HwId::CPU_CYCLES => 10,
            HwId::INSTRUCTIONS => 11,
            HwId::CACHE_REFERENCES => 12,
            HwId::CACHE_MISSES => 13,
            HwId::BRANCH_INSTRUCTIONS => 14,
            HwId::BRANCH_MISSES => 15,
            HwId::BUS_CYCLES => 16,
            HwId::STALLED_CYCLES_FRONTEND => 17,
            HwId::STALLED_CYCLES_BACKEND => 18,
            HwId::REF_CPU_CYCLES => 19,
            _ => return None,
        }),
        EventType::SOFTWARE => Some(match SwId(attr.config) {
            SwId::CPU_CLOCK => 1,
            SwId::PAGE_FAULTS => 2,
            SwId::TASK_CLOCK => 3,
            SwId::CONTEXT_SWITCHES => 4,
            SwId::CPU_MIGRATIONS => 5,
            SwId::PAGE_FAULTS_MIN => 6,
            SwId::PAGE_FAULTS_MAJ => 7,
            SwId::ALIGNMENT_FAULTS => 8,
            SwId::EMULATION_FAULTS => 9,
            SwId::DUMMY => 20,
            _ => return None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(attr: Attr) -> Timebase {
        timebase(&perf_parse::event::Events::from_iter([(attr, vec![])])[0])
    }

    #[test]
    fn counters_have_perfettos_numbers() {
        let attr = |kind, config| Attr { kind, config, sample_period: 5, ..Attr::default() };
        for (kind, config, counter) in [
            (EventType::HARDWARE, 0, Some(10)),
            // The instructions of one kind of core.
            (EventType::HARDWARE, 0x8_0000_0001, Some(11)),
            (EventType::HARDWARE, 9, Some(19)),
            (EventType::HARDWARE, 10, None),
            (EventType::SOFTWARE, 0, Some(1)),
            (EventType::SOFTWARE, 9, Some(20)),
            (EventType::SOFTWARE, 10, None),
            (EventType::RAW, 0, None),
        ] {
            let timebase = of(attr(kind, config));
            assert_eq!(timebase.counter, counter, "{kind:?} {config}");
            let raw = timebase.raw_event.map(|raw| (raw.r#type, raw.config));
            assert_eq!(raw, counter.is_none().then_some((kind.0, config)));
            assert_eq!((timebase.period, timebase.frequency, timebase.tracepoint), (Some(5), None, None));
            assert!(!timebase.name.is_empty());
        }
        let timebase = of(Attr { flags: AttrFlags::FREQ, ..attr(EventType::TRACEPOINT, 7) });
        assert_eq!((timebase.period, timebase.frequency), (None, Some(5)));
        assert_eq!(timebase.tracepoint.unwrap().name, timebase.name);
        assert!(timebase.counter.is_none() && timebase.raw_event.is_none());
        assert_eq!(of(Attr { sample_period: 0, ..attr(EventType::RAW, 0) }).period, None);
    }

    #[test]
    fn clocks_that_perfetto_knows() {
        let with = |flags, clockid| clock(Some(&Attr { flags, clockid, ..Attr::default() }));
        for (clockid, builtin, of_event) in [
            (0, 1, Some(1)),
            (1, 3, Some(2)),
            (4, 5, Some(3)),
            (7, 6, Some(4)),
            (11, 10, None),
            (-1, 10, None),
        ] {
            assert_eq!(with(AttrFlags::USE_CLOCKID, clockid), TraceClock { builtin, of_event });
            // Without the flag, the field means nothing.
            assert_eq!(with(AttrFlags(0), clockid), clock(None));
        }
    }
}
