//! Events that a tool measures itself.

use perf_abi::event::SwId;

use super::EventSpec;

/// A quantity that event strings have names for and that the kernel does not count: the tool measures it.
///
/// perf: `enum perf_tool_event`, `tools/perf/util/evsel.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tool {
    /// `duration_time`: the time for which was counted, in nanoseconds.
    DurationTime,
    /// `user_time`: the time in user space, in nanoseconds.
    UserTime,
    /// `system_time`: the time in the kernel, in nanoseconds.
    SystemTime,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::DurationTime, Self::UserTime, Self::SystemTime];

    /// Returns the name in event strings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DurationTime => "duration_time",
            Self::UserTime => "user_time",
            Self::SystemTime => "system_time",
        }
    }

    /// Returns the tool's event of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

impl EventSpec {
    /// Returns an event that the caller must measure. Its attr is that of the software event `dummy`, which counts
    /// nothing.
    #[must_use]
    pub fn tool(tool: Tool) -> Self {
        Self { tool: Some(tool), ..Self::software(SwId::DUMMY).with_name(tool.name()) }
    }
}
