//! The AUX areas of a session while it records: their data, and their snapshots.

use core::sync::atomic::Ordering;

use perf_open::{Counter, Ring, tsc};

use crate::aux_area::{info, times};
use crate::session::{EventSession, OpenEvent, filter_of};
use crate::sink::RecordingSink;
use crate::{Error, RecordOptions, Recorder};

impl EventSession {
    /// Returns the index of the event that writes to the AUX areas.
    pub(crate) fn traced(&self) -> Option<usize> {
        self.plan.as_ref().map(|plan| self.own + plan.event)
    }

    /// Passes the data of the AUX areas to `sink`, and lets the trace continue if it stopped because an area was full.
    /// Returns the bytes of the data.
    pub(crate) fn drain_areas<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<u64, Error> {
        let (traced, is_on) = (self.traced(), self.is_on.load(Ordering::Relaxed));
        let mut bytes = 0_u64;
        for area in &mut self.areas {
            let ring = area.place.ring;
            bytes += area.drain(sink, || {
                let of_ring = |opened: &&OpenEvent| Some(opened.event) == traced && opened.ring == ring;
                let mut counters = self.opened.iter().filter(of_ring).filter(|_| is_on);
                Ok(counters.try_for_each(|opened| opened.counter.enable())?)
            })?;
        }
        Ok(bytes)
    }

    /// Returns the counters of the event that writes to the AUX areas.
    fn tracers(&self) -> impl Iterator<Item = &Counter> {
        let traced = self.traced();
        self.opened.iter().filter(move |opened| Some(opened.event) == traced).map(|opened| &opened.counter)
    }

    /// Stops the trace.
    fn stop_trace(&self) -> Result<(), Error> {
        Ok(self.tracers().try_for_each(Counter::disable)?)
    }

    /// Passes the newest data of the AUX areas to `sink`, and lets the trace continue if the events are started. Returns
    /// the bytes of the data.
    fn snapshot_areas<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<u64, Error> {
        let mut bytes = 0_u64;
        for area in &mut self.areas {
            bytes += area.snapshot(sink)?;
        }
        if self.is_on.load(Ordering::Relaxed) {
            self.tracers().try_for_each(Counter::enable)?;
        }
        Ok(bytes)
    }

    /// Returns the filter of the event that writes to the AUX areas.
    fn filter_of_trace(&self, options: &RecordOptions) -> Option<String> {
        filter_of(options, self.plan.as_ref()?.event, true)
    }
}

impl Recorder {
    /// Returns whether the AUX areas keep the newest data of a hardware trace, so that it is recorded by
    /// [`snapshot_areas`](Self::snapshot_areas).
    #[must_use]
    pub fn takes_snapshots_of_areas(&self) -> bool {
        self.session.plan.is_some() && self.options.aux_snapshot.is_some()
    }

    /// Stops the hardware trace, passes the newest data of the AUX areas to `sink`, and lets the trace continue, unless the
    /// events are stopped. Returns the bytes of the data. The records that are in the rings now precede the data.
    ///
    /// Does nothing unless [`RecordOptions::aux_snapshot`] is set.
    ///
    /// # Errors
    ///
    /// Those of the sink, or that the kernel refuses to stop or to start the trace.
    pub fn snapshot_areas<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<u64, Error> {
        if !self.takes_snapshots_of_areas() {
            return Ok(0);
        }
        self.session.stop_trace()?;
        self.drain_above(1, sink)?;
        let bytes = self.session.snapshot_areas(sink)?;
        if bytes > 0 {
            sink.round()?;
        }
        Ok(bytes)
    }

    /// Passes the records that describe the hardware trace to `sink`, if there is one.
    pub(crate) fn describe_trace<S: RecordingSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), Error> {
        let Some(plan) = &self.session.plan else { return Ok(()) };
        let page = self.session.rings.first().map(Ring::page).unwrap_or_default();
        let filter = self.session.filter_of_trace(&self.options);
        let crystal = tsc::crystal_ratio();
        let mut put = |record: &[u8]| sink.records(record);
        times(&page, &mut put)?;
        info(plan, &page, crystal, filter.as_deref(), &mut put)
    }
}
