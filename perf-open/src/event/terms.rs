//! The terms of perf that say how an event is sampled.

/// How call chains are made: perf's `call-graph=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallGraph {
    /// `no`: none.
    No,
    /// `fp`: by frame pointers, in the kernel.
    Fp,
    /// `dwarf`: from a copy of the stack and the registers, later.
    Dwarf,
    /// `lbr`: from the cpu's record of branches.
    Lbr,
}

/// What an event string asks for beyond which event it is; `None` where it says nothing.
///
/// perf: `config_term_common`, `tools/perf/util/parse-events.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// `period=`: events between samples.
    pub period: Option<u64>,
    /// `freq=`: samples a second.
    pub freq: Option<u64>,
    /// `time=`: whether samples tell the time.
    pub time: Option<bool>,
    /// `call-graph=`: whether samples tell the call chain, and by what.
    pub call_graph: Option<CallGraph>,
    /// `stack-size=`: bytes of user stack in a sample, for [`CallGraph::Dwarf`].
    pub stack_size: Option<u32>,
    /// `inherit`, `no-inherit`: whether children are counted.
    pub inherit: Option<bool>,
    /// `max-stack=`: entries of a call chain at most.
    pub max_stack: Option<u16>,
    /// `overwrite`, `no-overwrite`: whether new records overwrite old ones that nobody read.
    pub overwrite: Option<bool>,
}
