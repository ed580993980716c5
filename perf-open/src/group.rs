//! Groups: events that are on the PMU together, and are read together.

use perf_abi::read_format::ReadFormat;

use crate::builder::Builder;
use crate::count::Count;
use crate::counter::Counter;
use crate::error::Error;
use crate::event::EventGroup;
use crate::target::Target;

/// What a group's events are read as.
const FORMAT: ReadFormat = ReadFormat(
    ReadFormat::GROUP.0
        | ReadFormat::ID.0
        | ReadFormat::TOTAL_TIME_ENABLED.0
        | ReadFormat::TOTAL_TIME_RUNNING.0,
);

/// A leader and its members: counted at the very same times, so that their counts may be compared, added and divided.
///
/// All are on the PMU or none is. A group that is larger than the PMU never is: `time_running` stays 0.
///
/// # Examples
///
/// ```
/// use perf_open::abi::event::SwId;
/// use perf_open::{Builder, Event, Group, Target};
///
/// let event = |id| Builder::new(Event::software(id)).exclude_kernel(true);
/// let here = Target::this_thread();
/// let mut group = Group::open(event(SwId::TASK_CLOCK).disabled(true), &here)?;
/// group.add(event(SwId::PAGE_FAULTS), &here)?;
/// group.enable()?;
/// let pages = vec![1_u8; 1 << 20];
/// group.disable()?;
/// let counts = group.read()?;
/// assert!(counts[0].value > 0 && counts[1].value > 0, "{} bytes were touched", pages.len());
/// # Ok::<(), perf_open::Error>(())
/// ```
#[derive(Debug)]
pub struct Group {
    /// The leader first.
    counters: Vec<Counter>,
    /// The id of each counter.
    ids: Vec<u64>,
}

impl Group {
    /// Opens the leader of a new group. To its `read_format` is added what the group is read by: `GROUP`, `ID` and both
    /// times.
    ///
    /// # Errors
    ///
    /// As [`Builder::open`].
    pub fn open(leader: Builder, target: &Target<'_>) -> Result<Self, Error> {
        let mut group = Self { counters: Vec::new(), ids: Vec::new() };
        group.push(Self::readable(leader).open(target)?)?;
        Ok(group)
    }

    /// Opens one more event in the group, on the target that the leader has.
    ///
    /// # Errors
    ///
    /// As [`Builder::open_in`].
    pub fn add(&mut self, member: Builder, target: &Target<'_>) -> Result<(), Error> {
        let member = Self::readable(member).open_in(self.leader(), target)?;
        self.push(member)
    }

    /// Opens the events that a string grouped, each as `with` completes it.
    ///
    /// `with` gets the events in order with whether the event is one that may sample: all do, but in a group with the
    /// modifier `S` the leader alone. The leader is opened [`disabled`](Builder::disabled), and so is the group until
    /// [`enable`](Self::enable).
    ///
    /// # Errors
    ///
    /// As [`Builder::open`]. Where the modifier `W` allows it, the events can then be opened each by itself.
    pub fn open_events(
        events: &EventGroup,
        target: &Target<'_>,
        mut with: impl FnMut(Builder, bool) -> Builder,
    ) -> Result<Self, Error> {
        let mut group: Option<Self> = None;
        for event in &events.events {
            let may_sample = group.is_none() || !events.sample_leader_only;
            let builder = with(Builder::new(event.clone()), may_sample);
            match &mut group {
                Some(group) => group.add(builder, target)?,
                None => group = Some(Self::open(builder.disabled(true), target)?),
            }
        }
        group.ok_or_else(|| {
            Error::refused("perf_event_open", "group", "a group without events cannot be opened")
        })
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

    /// The leader.
    #[must_use]
    pub fn leader(&self) -> &Counter {
        // A group is made with its leader, and nothing takes it out.
        &self.counters[0]
    }

    /// The events, the leader first, then in the order they were added.
    #[must_use]
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// Starts all events of the group at once.
    ///
    /// # Errors
    ///
    /// As [`Counter::enable_group`].
    pub fn enable(&self) -> Result<(), Error> {
        self.leader().enable_group()
    }

    /// Stops all events of the group at once.
    ///
    /// # Errors
    ///
    /// As [`Counter::disable_group`].
    pub fn disable(&self) -> Result<(), Error> {
        self.leader().disable_group()
    }

    /// Sets the counts of all events of the group to 0; the times go on.
    ///
    /// # Errors
    ///
    /// As [`Counter::reset_group`].
    pub fn reset(&self) -> Result<(), Error> {
        self.leader().reset_group()
    }

    /// The counts of all events of the group by one read, in the order of [`counters`](Self::counters), told apart by
    /// their ids.
    ///
    /// # Errors
    ///
    /// As [`Counter::read_group`].
    pub fn read(&self) -> Result<Vec<Count>, Error> {
        let counts = self.leader().read_group()?;
        let of = |id: &u64| counts.iter().find(|count| count.id == Some(*id)).copied();
        let missing = || Error::refused("read", "id", "the read lacks an event of the group");
        self.ids.iter().map(|id| of(id).ok_or_else(missing)).collect()
    }
}
