//! Recognition of the events of Instruction-Based Sampling.

use perf_abi::event::EventType;

/// A PMU of Instruction-Based Sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IbsPmu {
    /// `ibs_fetch`: instruction fetches. Its raw data is a [`FetchSample`](super::FetchSample).
    Fetch,
    /// `ibs_op`: operations. Its raw data is an [`OpSample`](super::OpSample).
    Op,
}

/// The types of events of the two PMUs, which differ between machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IbsPmus {
    /// Type of the events of `ibs_fetch`; `None` if the machine has no such PMU.
    pub fetch: Option<EventType>,
    /// Type of the events of `ibs_op`; `None` if the machine has no such PMU.
    pub op: Option<EventType>,
}

impl IbsPmus {
    /// Finds the PMUs in the `PMU_MAPPINGS` feature of a capture: the types and names of all PMUs.
    ///
    /// perf compares prefixes, and takes the last of several.
    ///
    /// perf: `evlist__has_amd_ibs`, `tools/perf/util/amd-sample-raw.c`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::event::EventType;
    /// use perf_aux::ibs::{IbsPmu, IbsPmus};
    ///
    /// let mappings: [(u32, &[u8]); 3] = [(4, b"cpu"), (9, b"ibs_fetch"), (10, b"ibs_op")];
    /// let pmus = IbsPmus::of_mappings(mappings.map(|(kind, name)| (EventType(kind), name)));
    /// assert_eq!(pmus.pmu(EventType(10)), Some(IbsPmu::Op));
    /// assert_eq!(pmus.pmu(EventType(4)), None);
    /// ```
    #[must_use]
    pub fn of_mappings<'a>(mappings: impl IntoIterator<Item = (EventType, &'a [u8])>) -> Self {
        let mut pmus = Self::default();
        for (kind, name) in mappings {
            if name.starts_with(b"ibs_op") {
                pmus.op = Some(kind);
            } else if name.starts_with(b"ibs_fetch") {
                pmus.fetch = Some(kind);
            }
        }
        pmus
    }

    /// Returns the PMU of events of this type, the `type` of their attrs; `None` if it is neither.
    #[must_use]
    pub fn pmu(&self, kind: EventType) -> Option<IbsPmu> {
        if self.fetch == Some(kind) {
            Some(IbsPmu::Fetch)
        } else if self.op == Some(kind) {
            Some(IbsPmu::Op)
        } else {
            None
        }
    }
}
