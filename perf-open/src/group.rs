//! Groups: events that are scheduled onto the PMU together and read together.

use perf_abi::read_format::ReadFormat;

use crate::builder::Builder;
use crate::count::Count;
use crate::counter::Counter;
use crate::error::Error;
use crate::event::EventGroup;
use crate::target::Target;

/// The `read_format` bits that a group is read with.
const FORMAT: ReadFormat = ReadFormat(
    ReadFormat::GROUP.0
        | ReadFormat::ID.0
        | ReadFormat::TOTAL_TIME_ENABLED.0
        | ReadFormat::TOTAL_TIME_RUNNING.0,
);

/// A leader and its members. All of them count over exactly the same time, so their counts can be compared, added and
/// divided.
///
/// The kernel schedules all events of a group onto the PMU, or none. A group that is larger than the PMU is never
/// scheduled: `time_running` stays 0.
///
/// # Examples
///
/// ```no_run
/// use perf_open::abi::event::SwId;
/// use perf_open::{Builder, EventSpec, CounterGroup, Target};
///
/// let event = |id| Builder::new(EventSpec::software(id)).exclude_kernel(true);
/// let here = Target::this_thread();
/// let mut group = CounterGroup::open(event(SwId::TASK_CLOCK).disabled(true), &here)?;
/// group.add(event(SwId::PAGE_FAULTS), &here)?;
/// group.enable()?;
/// let pages = vec![1_u8; 1 << 20];
/// group.disable()?;
/// let counts = group.read()?;
/// assert!(counts[0].value > 0 && counts[1].value > 0, "{} bytes were touched", pages.len());
/// # Ok::<(), perf_open::Error>(())
/// ```
#[derive(Debug)]
pub struct CounterGroup {
    /// The leader is the first element, so the list is never empty.
    counters: Vec<Counter>,
    /// The ids of the `counters`, in the same order.
    ids: Vec<u64>,
}

impl CounterGroup {
    /// Opens the leader of a new group. Adds `GROUP`, `ID` and both times to its `read_format`.
    ///
    /// # Errors
    ///
    /// The same as [`Builder::open`].
    pub fn open(leader: Builder, target: &Target<'_>) -> Result<Self, Error> {
        let mut group = Self { counters: Vec::new(), ids: Vec::new() };
        group.push(Self::readable(leader).open(target)?)?;
        Ok(group)
    }

    /// Opens another event in the group. `target` must be the leader's target.
    ///
    /// # Errors
    ///
    /// The same as [`Builder::open_in`].
    pub fn add(&mut self, member: Builder, target: &Target<'_>) -> Result<(), Error> {
        let member = Self::readable(member).open_in(self.leader(), target)?;
        self.push(member)
    }

    /// Opens the events of a group from an event string. `with` completes the builder of each event.
    ///
    /// Calls `with` for the events in order. The second argument of `with` is whether the event may sample: `true` for
    /// every event, but only for the leader in a group with the modifier `S`. Opens the leader
    /// [`disabled`](Builder::disabled), so the group counts nothing until [`enable`](Self::enable).
    ///
    /// # Errors
    ///
    /// The same as [`Builder::open`]. If [`weak`](EventGroup::weak) is set (modifier `W`), the caller may then open the
    /// events one by one.
    pub fn open_events(
        events: &EventGroup,
        target: &Target<'_>,
        mut with: impl FnMut(Builder, bool) -> Builder,
    ) -> Result<Self, Error> {
        let mut group: Option<Self> = None;
        for event in &events.events {
            let may_sample = group.is_none() || !events.sample_leader_only || event.terms.has_rate();
            let builder = with(Builder::new(event.clone()), may_sample);
            match &mut group {
                Some(group) => group.add(builder, target)?,
                None => group = Some(Self::open(builder.disabled(true), target)?),
            }
        }
        group.ok_or_else(|| Error::refused("perf_event_open", "group", "the group has no events"))
    }

    fn readable(mut builder: Builder) -> Builder {
        builder.attr_mut().read_format |= FORMAT;
        builder
    }

    fn push(&mut self, counter: Counter) -> Result<(), Error> {
        self.ids.push(counter.id()?);
        self.counters.push(counter);
        Ok(())
    }

    /// Returns the leader.
    #[must_use]
    pub fn leader(&self) -> &Counter {
        // `open` creates the group with its leader, and nothing removes it.
        &self.counters[0]
    }

    /// Returns the events: the leader first, then the members in the order they were added.
    #[must_use]
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// Starts all events of the group at once.
    ///
    /// # Errors
    ///
    /// The same as [`Counter::enable_group`].
    pub fn enable(&self) -> Result<(), Error> {
        self.leader().enable_group()
    }

    /// Stops all events of the group at once.
    ///
    /// # Errors
    ///
    /// The same as [`Counter::disable_group`].
    pub fn disable(&self) -> Result<(), Error> {
        self.leader().disable_group()
    }

    /// Sets the counts of all events of the group to 0. The times continue.
    ///
    /// # Errors
    ///
    /// The same as [`Counter::reset_group`].
    pub fn reset(&self) -> Result<(), Error> {
        self.leader().reset_group()
    }

    /// Reads the counts of all events of the group in one read. The order is that of [`counters`](Self::counters); the
    /// ids in the read identify the events.
    ///
    /// # Errors
    ///
    /// The same as [`Counter::read_group`].
    pub fn read(&self) -> Result<Vec<Count>, Error> {
        let counts = self.leader().read_group()?;
        let of = |id: &u64| counts.iter().find(|count| count.id == Some(*id)).copied();
        let missing = || Error::refused("read", "id", "the read contains no count for an event of the group");
        self.ids.iter().map(|id| of(id).ok_or_else(missing)).collect()
    }
}
