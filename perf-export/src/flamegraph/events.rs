//! The events of all captures.

use hashbrown::HashMap;
use perf_profile::{Profile, SampleTotal, event_name, text::OneLine, unit::is_clock};

/// An event, in all captures that have it.
#[derive(Clone, Debug)]
pub(super) struct FlameEvent {
    pub(super) name: String,
    /// Unit of its periods: `ns`, or empty for a count of the event.
    pub(super) unit: &'static str,
    /// Of the samples that the profiles have.
    pub(super) total: SampleTotal,
    /// Of those that are beyond limits.
    pub(super) beyond: SampleTotal,
}

/// The events of all captures, in the order of their first samples.
#[derive(Debug, Default)]
pub(super) struct FlameEvents {
    pub(super) list: Vec<FlameEvent>,
    /// By capture, and by the index in [`Profile::events`].
    numbers: Vec<Vec<u32>>,
}

impl FlameEvents {
    pub(super) fn of(profiles: &[Profile]) -> Self {
        let mut events = Self::default();
        let mut known = HashMap::new();
        for profile in profiles {
            // A capture may have several events with the same name.
            let mut occurrences: HashMap<Vec<u8>, u32> = HashMap::new();
            let mut numbers = Vec::new();
            for it in profile.events() {
                let name = event_name(&it.event);
                let occurrence = occurrences.entry(name.clone()).or_default();
                *occurrence += 1;
                let unit = if is_clock(&it.event.attr) { "ns" } else { "" };
                let next = events.list.len();
                let number = *known.entry((name.clone(), *occurrence, unit)).or_insert(next);
                if number == next {
                    let name = OneLine(&name).to_string();
                    let (total, beyond) = (SampleTotal::default(), SampleTotal::default());
                    events.list.push(FlameEvent { name, unit, total, beyond });
                }
                if let Some(event) = events.list.get_mut(number) {
                    let mut kept = it.total;
                    kept.subtract(it.beyond);
                    event.total.add(kept);
                    event.beyond.add(it.beyond);
                }
                numbers.push(number as u32);
            }
            events.numbers.push(numbers);
        }
        events
    }

    /// Returns the number of the event with a name; of the first one without a name, and if no capture has it.
    pub(super) fn first_shown(&self, name: Option<&[u8]>) -> usize {
        let name = name.map(|name| OneLine(name).to_string());
        self.list.iter().position(|event| Some(&event.name) == name.as_ref()).unwrap_or(0)
    }

    /// Returns the number of an event of a capture.
    pub(super) fn number(&self, capture: usize, event: u32) -> u32 {
        let number = self.numbers.get(capture).and_then(|numbers| numbers.get(event as usize));
        number.copied().unwrap_or(0)
    }
}
