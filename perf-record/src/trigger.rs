//! Events whose occurrence is reported to the recorder, and which are not recorded.

use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd};

use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
use perf_open::EventGroup;
use perf_parse::RawRecord;

use crate::fallback::EventChoices;
use crate::session::EventSession;
use crate::{Error, RecordOptions, Targets};

/// Events whose occurrences a recorder waits for, such as the one that makes it write a snapshot.
///
/// perf: `--switch-output-event`, `evlist__start_sb_thread`.
#[derive(Debug)]
pub struct Trigger {
    session: EventSession,
}

impl Trigger {
    /// Opens the events on the targets. Each hit of a tracepoint or a breakpoint counts; other events need the term
    /// `period`.
    ///
    /// # Errors
    ///
    /// If an event has no period, or cannot be opened.
    pub fn open(groups: Vec<EventGroup>, targets: &Targets, command: Option<u32>) -> Result<Self, Error> {
        let mut events = groups.iter().flat_map(|group| &group.events);
        if let Some(event) =
            events.find(|event| event.default_sampling().period.is_none() && !event.terms.has_rate())
        {
            return Err(Error::Request(format!(
                "{}: needs the term period, for example period=1000: how many occurrences are one",
                event.name
            )));
        }
        let options = RecordOptions {
            tracking: false,
            no_buffering: true,
            mmap_pages: Some(1),
            fall_back: false,
            ..RecordOptions::default()
        };
        let mut choices = EventChoices { groups, inherit_read: true, aux: None };
        let (session, _) = EventSession::open(&mut choices, targets, command, &options)?;
        Ok(Self { session })
    }

    /// Starts the events, except for those that start with the exec of a command.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn start(&self) -> Result<(), Error> {
        self.session.enable()
    }

    /// Returns the descriptors that are readable after an occurrence, for
    /// [`Recorder::wait`](crate::Recorder::wait).
    #[must_use]
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let rings = self.session.rings.iter().zip(&self.session.ended);
        rings.filter(|(_, ended)| !**ended).map(|(ring, _)| ring.as_fd()).collect()
    }

    /// Returns how often the events occurred since the last call.
    ///
    /// # Errors
    ///
    /// The errno of `poll`, or that a ring cannot be read.
    pub fn take(&mut self) -> Result<u64, Error> {
        // Finds the rings whose tasks have ended.
        self.session.wait(Some(Duration::ZERO), &[])?;
        let mut times = 0_u64;
        for ring in &mut self.session.rings {
            let mut unread = ring.read()?;
            while let Some(span) = unread.next_span() {
                let mut records = span?;
                while let Ok((record, rest)) = RawRecord::<NativeEndian>::parse(records) {
                    times += u64::from(record.kind() == RecordType::SAMPLE);
                    records = rest;
                }
            }
        }
        Ok(times)
    }
}
