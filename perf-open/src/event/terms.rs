//! perf's terms about sampling.

use alloc::collections::BTreeSet;

use perf_abi::attr::AuxAction;

use super::{ErrorOffset, EventSpec, ParseErrorKind};
use crate::lookup::closest;
use crate::pmu::{ConfigWord, Term, TermValue};

/// The method that records call chains: perf's `call-graph=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallGraphTerm {
    /// `no`: not at all.
    No,
    /// `fp`: by the kernel, from frame pointers.
    Fp,
    /// `dwarf`: unwound later, from a copy of the stack and the registers.
    Dwarf,
    /// `lbr`: from the cpu's branch records.
    Lbr,
}

/// The terms of an event string about sampling. `None` if the string does not have the term.
///
/// At most one of [`period`](Self::period) and [`freq`](Self::freq) is `Some`: the last one in the string, as in perf.
///
/// perf: `config_term_common`, `tools/perf/util/parse-events.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplingTerms {
    /// `period=`: events between samples.
    pub period: Option<u64>,
    /// `freq=`: samples per second.
    pub freq: Option<u64>,
    /// `time=`: whether samples contain the time.
    pub time: Option<bool>,
    /// `call-graph=`: whether samples contain the call chain, and how it is recorded.
    pub call_graph: Option<CallGraphTerm>,
    /// `stack-size=`: bytes of user stack in a sample, for [`CallGraphTerm::Dwarf`].
    pub stack_size: Option<u32>,
    /// `inherit`, `no-inherit`: whether children are counted.
    pub inherit: Option<bool>,
    /// `max-stack=`: the maximum number of entries of a call chain.
    pub max_stack: Option<u16>,
    /// `overwrite`, `no-overwrite`: whether new records overwrite old, unread ones.
    pub overwrite: Option<bool>,
    /// `aux-output`: whether the event writes its records to the AUX area of its group's leader. Kernel: `aux_output`.
    pub aux_output: Option<bool>,
    /// `aux-sample-size=`: bytes of the AUX area of the group's leader in each sample. Kernel: `aux_sample_size`.
    pub aux_sample_size: Option<u32>,
    /// `aux-action=`: what the event does to the trace of its group's leader, or how the trace starts.
    pub aux_action: Option<AuxAction>,
}

impl SamplingTerms {
    /// Returns the names of the terms that the string has, in the order of the fields. A caller that does not apply one
    /// of them can refuse it.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::parse;
    ///
    /// let groups = parse("faults/period=5,no-inherit/")?;
    /// assert!(groups[0].events[0].terms.names().eq(["period", "inherit"]));
    /// # Ok::<(), perf_open::event::ParseError>(())
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let Self { period, freq, time, call_graph, stack_size, inherit, max_stack, overwrite, .. } = *self;
        let terms = [
            ("period", period.is_some()),
            ("freq", freq.is_some()),
            ("time", time.is_some()),
            ("call-graph", call_graph.is_some()),
            ("stack-size", stack_size.is_some()),
            ("inherit", inherit.is_some()),
            ("max-stack", max_stack.is_some()),
            ("overwrite", overwrite.is_some()),
            ("aux-output", self.aux_output.is_some()),
            ("aux-sample-size", self.aux_sample_size.is_some()),
            ("aux-action", self.aux_action.is_some()),
        ];
        terms.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name)
    }

    /// Returns whether the terms say how often the event samples: `period=` or `freq=`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::parse;
    ///
    /// let groups = parse("faults/period=5/,cpu-clock")?;
    /// assert!(groups[0].events[0].terms.has_rate() && !groups[1].events[0].terms.has_rate());
    /// # Ok::<(), perf_open::event::ParseError>(())
    /// ```
    #[must_use]
    pub fn has_rate(&self) -> bool {
        self.period.is_some() || self.freq.is_some()
    }
}

/// The terms that perf accepts for every event.
pub(crate) const WORDS: &[&str] = &[
    "config",
    "config1",
    "config2",
    "config3",
    "config4",
    "name",
    "period",
    "freq",
    "time",
    "call-graph",
    "stack-size",
    "inherit",
    "no-inherit",
    "max-stack",
    "overwrite",
    "no-overwrite",
    "aux-output",
    "aux-sample-size",
    "aux-action",
];

/// The terms that perf accepts and this crate refuses, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("branch_type", "ask for a branch stack when the event is opened"),
    ("nr", "it limits what perf writes of BPF output"),
    ("percore", "perf adds up the counts of a core's threads itself"),
    ("metric-id", "metrics are perf's"),
];

/// Applies a term that perf accepts for every event. Returns `false` if it is not such a term.
pub(crate) fn apply(event: &mut EventSpec, term: &Term) -> Result<bool, ErrorOffset> {
    if let Some(&(name, reason)) = REFUSED.iter().find(|(name, _)| *name == term.name) {
        return Err((term.offset, ParseErrorKind::Unsupported { name: name.to_owned(), reason }));
    }
    if let Some(word) = ConfigWord::of(&term.name) {
        *word.of_attr(&mut event.attr) = number(term, u64::MAX)?;
        return Ok(true);
    }
    let terms = &mut event.terms;
    match term.name.as_str() {
        "name" => event.name = text(term, "a name")?.to_owned(),
        "period" => (terms.period, terms.freq) = (Some(number(term, u64::MAX)?), None),
        "freq" => (terms.period, terms.freq) = (None, Some(number(term, u64::MAX)?)),
        "time" => terms.time = Some(number(term, 1)? == 1),
        "call-graph" => terms.call_graph = Some(call_graph(term)?),
        "stack-size" => terms.stack_size = Some(small(term, number(term, u32::MAX.into())?)?),
        "max-stack" => terms.max_stack = Some(small(term, number(term, u16::MAX.into())?)?),
        "inherit" => terms.inherit = Some(switch(term)?),
        "no-inherit" => terms.inherit = Some(!switch(term)?),
        "overwrite" => terms.overwrite = Some(switch(term)?),
        "no-overwrite" => terms.overwrite = Some(!switch(term)?),
        "aux-output" => terms.aux_output = Some(switch(term)?),
        "aux-sample-size" => terms.aux_sample_size = Some(small(term, number(term, u32::MAX.into())?)?),
        "aux-action" => terms.aux_action = Some(aux_action(term)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns the number of a term.
pub(crate) fn number(term: &Term, max: u64) -> Result<u64, ErrorOffset> {
    match term.value {
        TermValue::Number(value) if value > max => {
            Err((term.value_offset, ParseErrorKind::TooLarge { name: term.name.clone(), value, max }))
        }
        TermValue::Number(value) => Ok(value),
        TermValue::Flag => Err((term.value_offset, ParseErrorKind::Expected("`=` and a number"))),
        _ => Err((term.value_offset, ParseErrorKind::Expected("a number"))),
    }
}

/// Converts a number that is known to fit.
fn small<T: TryFrom<u64>>(term: &Term, value: u64) -> Result<T, ErrorOffset> {
    T::try_from(value).map_err(|_| (term.value_offset, ParseErrorKind::Expected("a smaller number")))
}

/// Returns the value of a switch; without a value it is on.
pub(crate) fn switch(term: &Term) -> Result<bool, ErrorOffset> {
    match term.value {
        TermValue::Flag => Ok(true),
        _ => Ok(number(term, u64::MAX)? != 0),
    }
}

/// Returns the text of a term.
pub(crate) fn text<'a>(term: &'a Term, expected: &'static str) -> Result<&'a str, ErrorOffset> {
    match &term.value {
        TermValue::Text(text) => Ok(text),
        _ => Err((term.value_offset, ParseErrorKind::Expected(expected))),
    }
}

fn call_graph(term: &Term) -> Result<CallGraphTerm, ErrorOffset> {
    const EXPECTED: &str = "`fp`, `dwarf`, `lbr` or `no`";
    match text(term, EXPECTED)? {
        "fp" => Ok(CallGraphTerm::Fp),
        "dwarf" => Ok(CallGraphTerm::Dwarf),
        "lbr" => Ok(CallGraphTerm::Lbr),
        "no" => Ok(CallGraphTerm::No),
        _ => Err((term.value_offset, ParseErrorKind::Expected(EXPECTED))),
    }
}

fn aux_action(term: &Term) -> Result<AuxAction, ErrorOffset> {
    const EXPECTED: &str = "`pause`, `resume` or `start-paused`";
    match text(term, EXPECTED)? {
        "pause" => Ok(AuxAction::PAUSE),
        "resume" => Ok(AuxAction::RESUME),
        "start-paused" => Ok(AuxAction::START_PAUSED),
        _ => Err((term.value_offset, ParseErrorKind::Expected(EXPECTED))),
    }
}

/// Returns an error if two terms have the same name.
pub(crate) fn repeated(terms: &[Term]) -> Result<(), ErrorOffset> {
    let mut seen = BTreeSet::new();
    match terms.iter().find(|term| !seen.insert(term.name.as_str())) {
        Some(term) => Err((term.offset, ParseErrorKind::Repeated(term.name.clone()))),
        None => Ok(()),
    }
}

/// Applies terms to an event that belongs to no PMU in sysfs; only those that perf accepts for every event are allowed.
pub(super) fn with_terms(mut event: EventSpec, terms: &[Term]) -> Result<EventSpec, ErrorOffset> {
    for term in terms {
        if !apply(&mut event, term)? {
            let close = closest(&term.name, WORDS.iter().copied());
            return Err((
                term.offset,
                ParseErrorKind::Unknown { what: "term", name: term.name.clone(), close },
            ));
        }
    }
    Ok(event)
}
