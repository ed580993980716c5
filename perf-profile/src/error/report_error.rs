//! Options that a report of a capture cannot have.

use core::fmt;

/// An option that a report of a capture cannot have. Displayed with the option's value first, if it has one, and with what to
/// do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportError {
    /// The samples have no branches, but [`Options::branches`](crate::report::Options::branches) asks for them.
    NoBranches,
    /// No sample has the source of its data, which [`Options::memory`](crate::report::Options::memory) needs.
    NoDataSource,
    /// The samples have no stacks, but [`Options::call_graph`](crate::report::Options::call_graph) asks for call graphs.
    NoStacks,
    /// The samples have no stacks, and so no parents, by which [`Options::sort`](crate::report::Options::sort) groups them.
    NoParents,
    /// No tracepoint of the capture has the field, which is no other key either.
    #[non_exhaustive]
    NoField {
        /// The option: `sort` or `fields`.
        option: &'static str,
        /// The word of the list.
        word: String,
        /// The names of the other keys, in words.
        keys: String,
    },
    /// A key of branches, but the samples are none.
    #[non_exhaustive]
    BranchKey {
        /// The name of the option, `sort` or `fields`.
        option: &'static str,
        /// The word of the list.
        word: String,
        /// perf's name of the key.
        name: &'static str,
    },
    /// A key of memory accesses, but the samples are none.
    #[non_exhaustive]
    MemoryKey {
        /// The name of the option, `sort` or `fields`.
        option: &'static str,
        /// The word of the list.
        word: String,
        /// perf's name of the key.
        name: &'static str,
    },
    /// [`Options::percent_limit`](crate::report::Options::percent_limit) is no percentage; its text.
    PercentLimit(String),
    /// [`Options::parent`](crate::report::Options::parent) is no regular expression.
    #[non_exhaustive]
    ParentPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl ReportError {
    /// Returns the name of the field of [`Options`](crate::report::Options).
    #[must_use]
    pub fn option(&self) -> &'static str {
        match self {
            Self::NoBranches => "branches",
            Self::NoDataSource => "memory",
            Self::NoStacks => "call_graph",
            Self::NoParents => "sort",
            Self::BranchKey { option, .. }
            | Self::MemoryKey { option, .. }
            | Self::NoField { option, .. } => option,
            Self::PercentLimit(_) => "percent_limit",
            Self::ParentPattern { .. } => "parent",
        }
    }

    /// Returns whether the text of the error begins with a value of the option.
    #[must_use]
    pub fn has_value(&self) -> bool {
        !matches!(self, Self::NoBranches | Self::NoDataSource | Self::NoStacks)
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBranches => {
                f.write_str("the samples have no branches; leave it out, or record with perf record -b")
            }
            Self::NoDataSource => f.write_str(
                "the samples do not tell where data was found; leave it out, or record with perf mem record",
            ),
            Self::NoStacks => {
                f.write_str("the samples have no stacks; leave it out, or record with perf record -g")
            }
            Self::NoParents => f.write_str(
                "parent: the samples have no stacks, so they have no parents; record with perf record -g",
            ),
            Self::BranchKey { word, name, .. } => write!(
                f,
                "{word}: {name} is a key of branches, which the samples do not have or which --no-branch-stack \
                 ignores; record with perf record -b, and leave --no-branch-stack out"
            ),
            Self::MemoryKey { word, name, .. } => {
                write!(f, "{word}: {name} is a key of memory accesses; add --mem-mode")
            }
            Self::NoField { word, keys, .. } => write!(
                f,
                "{word}: there is no such key, and no tracepoint of the capture has such a field; {keys}"
            ),
            Self::PercentLimit(limit) => write!(f, "{limit}: must be a percentage from 0 to 100"),
            Self::ParentPattern { pattern, reason } => write!(f, "{pattern}: {reason}"),
        }
    }
}

impl core::error::Error for ReportError {}
