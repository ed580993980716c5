//! Events of the types that need no information from the system.

use perf_abi::attr::Attr;
use perf_abi::event::{EventType, HwCacheEvent, HwCacheId, HwCacheOpId, HwCacheOpResultId, HwId, SwId};

use super::names::{HARDWARE, SOFTWARE, cache_name, name_of};
use super::{EventSpec, NamedValue};

impl EventSpec {
    /// Returns a generalised hardware event. C: `PERF_TYPE_HARDWARE`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::event::HwId;
    /// use perf_open::event::EventSpec;
    ///
    /// assert_eq!(EventSpec::hardware(HwId::CPU_CYCLES).name, "cpu-cycles");
    /// ```
    #[must_use]
    pub fn hardware(id: HwId) -> Self {
        Self::numeric(table_name(HARDWARE, id.0.into(), "hardware"), EventType::HARDWARE, id.0.into())
    }

    /// Returns a software event, one that the kernel counts itself. C: `PERF_TYPE_SOFTWARE`.
    #[must_use]
    pub fn software(id: SwId) -> Self {
        Self::numeric(table_name(SOFTWARE, id.0, "software"), EventType::SOFTWARE, id.0)
    }

    /// Returns a cache event. C: `PERF_TYPE_HW_CACHE`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::event::{HwCacheId, HwCacheOpId, HwCacheOpResultId};
    /// use perf_open::event::EventSpec;
    ///
    /// let event = EventSpec::cache(HwCacheId::L1D, HwCacheOpId::READ, HwCacheOpResultId::MISS);
    /// assert_eq!((event.name.as_str(), event.attr.config), ("L1-dcache-load-misses", 0x1_0000));
    /// ```
    #[must_use]
    pub fn cache(cache: HwCacheId, op: HwCacheOpId, result: HwCacheOpResultId) -> Self {
        let event = HwCacheEvent { cache, op, result, pmu: 0 };
        let name = cache_name(event).unwrap_or_else(|| format!("{cache}-{op}-{result}"));
        Self::numeric(name, EventType::HW_CACHE, event.config())
    }

    /// Returns an event of the core PMU, encoded as in the cpu's manual. C: `PERF_TYPE_RAW`.
    #[must_use]
    pub fn raw(config: u64) -> Self {
        Self::numeric(format!("r{config:x}"), EventType::RAW, config)
    }

    /// Returns an event of any type, by its numbers. `name` is only for display.
    #[must_use]
    pub fn numeric(name: impl Into<String>, kind: EventType, config: u64) -> Self {
        Self { name: name.into(), attr: Attr { kind, config, ..Attr::default() }, ..Self::default() }
    }
}

/// Returns perf's name of a code; for a code that it has no name for, the type and the number.
fn table_name(table: &[NamedValue], value: u64, kind: &str) -> String {
    name_of(table, value).map_or_else(|| format!("{kind}/config={value:#x}/"), str::to_owned)
}
