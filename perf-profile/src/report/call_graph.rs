//! The display of call chains, as `--call-graph` of `perf report` describes it.

use core::fmt;
use core::str::FromStr;

/// The call graphs of rows: their form, and the branches that they have.
///
/// perf: `struct callchain_param`, `tools/perf/util/callchain.h`.
///
/// # Examples
///
/// ```
/// use perf_profile::report::{CallGraphOptions, CallGraphStyle, StackOrder};
///
/// let graph: CallGraphOptions = "fractal,2.5,callee".parse()?;
/// assert_eq!((graph.style, graph.min_percent), (CallGraphStyle::Fractal, 2.5));
/// assert_eq!(graph.order, Some(StackOrder::Callee));
/// # Ok::<(), perf_profile::report::CallGraphError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallGraphOptions {
    /// The form. [`CallGraphStyle::None`] for no call graphs.
    pub style: CallGraphStyle,
    /// Branches below this percentage are left out, from 0 to 100.
    pub min_percent: f64,
    /// The largest number of branches of a row; 0 for all.
    pub print_limit: u64,
    /// The end of the stacks that is on top; `None` for the default, which depends on whether rows include the cost of
    /// callees.
    pub order: Option<StackOrder>,
    /// Frames that are the same by this are one node.
    pub by: FrameIdentity,
    /// The value of a branch that a printer shows.
    pub value: BranchValue,
}

/// The form of a call graph.
///
/// perf: `enum chain_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGraphStyle {
    /// No call graph.
    None,
    /// A tree with percentages of all samples.
    Graph,
    /// A tree with percentages of the caller or callee above.
    Fractal,
    /// Each stack on its own, one function a line.
    Flat,
    /// Each stack on its own, in one line.
    Folded,
}

/// The end of a stack that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackOrder {
    /// The outermost caller comes first.
    Caller,
    /// The innermost function comes first.
    Callee,
}

/// The property by which two frames are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameIdentity {
    /// The function; for frames without one, the address.
    Function,
    /// The address.
    Address,
    /// The line of source code; for frames without one, the function or the address.
    Srcline,
}

/// The value of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchValue {
    /// Its percentage.
    Percent,
    /// The sum of its periods.
    Period,
    /// The number of its samples.
    Count,
}

impl Default for CallGraphOptions {
    /// As perf has it: `graph,0.5,function,percent`.
    fn default() -> Self {
        Self {
            style: CallGraphStyle::Graph,
            min_percent: 0.5,
            print_limit: 0,
            order: None,
            by: FrameIdentity::Function,
            value: BranchValue::Percent,
        }
    }
}

impl CallGraphOptions {
    /// Returns whether the functions of call graphs have lines of source code.
    #[must_use]
    pub fn shows_lines(&self) -> bool {
        self.style != CallGraphStyle::None
            && matches!(self.by, FrameIdentity::Address | FrameIdentity::Srcline)
    }
}

/// Parses `print_type,threshold[,print_limit],order,sort_key,value`. As in perf, each word may be shortened, and they may be
/// in any order; an empty text is the default.
///
/// perf: `parse_callchain_report_opt`, `tools/perf/util/callchain.c`.
impl FromStr for CallGraphOptions {
    type Err = CallGraphError;

    /// # Errors
    ///
    /// The word that is none of perf's, or out of its range.
    fn from_str(text: &str) -> Result<Self, CallGraphError> {
        let mut graph = Self::default();
        let mut has_percent = false;
        let unknown = |word: &str| CallGraphError::Unknown { text: text.to_owned(), word: word.to_owned() };
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let is = |name: &str| name.starts_with(word);
            match () {
                () if is("none") => return Ok(Self { style: CallGraphStyle::None, ..graph }),
                () if is("graph") => graph.style = CallGraphStyle::Graph,
                () if is("flat") => graph.style = CallGraphStyle::Flat,
                () if is("fractal") => graph.style = CallGraphStyle::Fractal,
                () if is("folded") => graph.style = CallGraphStyle::Folded,
                () if is("caller") => graph.order = Some(StackOrder::Caller),
                () if is("callee") => graph.order = Some(StackOrder::Callee),
                () if is("function") => graph.by = FrameIdentity::Function,
                () if is("address") => graph.by = FrameIdentity::Address,
                () if is("srcline") => graph.by = FrameIdentity::Srcline,
                () if is("percent") => graph.value = BranchValue::Percent,
                () if is("period") => graph.value = BranchValue::Period,
                () if is("count") => graph.value = BranchValue::Count,
                () if is("branch") => return Err(CallGraphError::Branch { text: text.to_owned() }),
                () if !has_percent => {
                    let percent = word.parse().ok().filter(|percent: &f64| (0.0..=100.0).contains(percent));
                    graph.min_percent = percent.ok_or_else(|| unknown(word))?;
                    has_percent = true;
                }
                () => graph.print_limit = word.parse().map_err(|_| unknown(word))?,
            }
        }
        Ok(graph)
    }
}

/// A text that describes no call graph. Displayed with the text first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallGraphError {
    /// A word is none of perf's, or a number is out of its range.
    #[non_exhaustive]
    Unknown {
        /// The whole text.
        text: String,
        /// The word.
        word: String,
    },
    /// `branch`, which adds the branches of samples to stacks.
    #[non_exhaustive]
    Branch {
        /// The whole text.
        text: String,
    },
}

impl fmt::Display for CallGraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { text, word } => write!(
                f,
                "{text}: {word} is none of graph, flat, fractal, folded, none, caller, callee, function, address, \
                 srcline, percent, period and count, nor a percentage followed by a number of branches"
            ),
            Self::Branch { text } => write!(
                f,
                "{text}: call graphs do not include branches; drop 'branch', or sort by symbol_from,symbol_to"
            ),
        }
    }
}

impl core::error::Error for CallGraphError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_any_order() {
        let parse = |text: &str| text.parse::<CallGraphOptions>().unwrap();
        let graph = parse("fractal,2.5,callee,7,address,count");
        let expected = CallGraphOptions {
            style: CallGraphStyle::Fractal,
            min_percent: 2.5,
            print_limit: 7,
            order: Some(StackOrder::Callee),
            by: FrameIdentity::Address,
            value: BranchValue::Count,
        };
        assert_eq!(graph, expected);
        assert_eq!(parse(""), CallGraphOptions::default());
        assert_eq!(parse("caller,none").style, CallGraphStyle::None);
        // As in perf, the first name that begins with the word counts.
        assert_eq!(parse("f").style, CallGraphStyle::Flat);
        assert_eq!(parse("p").value, BranchValue::Percent);
    }

    #[test]
    fn words_that_are_none() {
        for (text, wrong) in [
            ("x", "x"),
            ("graph,x", "x"),
            ("1,x", "x"),
            ("101", "101"),
            ("-1", "-1"),
            ("NaN", "NaN"),
            ("1,2.5", "2.5"),
        ] {
            let error = text.parse::<CallGraphOptions>().unwrap_err();
            let expected = CallGraphError::Unknown { text: text.to_owned(), word: wrong.to_owned() };
            assert_eq!(error, expected);
            assert!(error.to_string().starts_with(&format!("{text}: {wrong} is none of graph")), "{error}");
        }
        let error = "branch".parse::<CallGraphOptions>().unwrap_err();
        assert_eq!(error, CallGraphError::Branch { text: "branch".to_owned() });
        assert!(
            error.to_string().starts_with("branch: call graphs do not include branches; drop "),
            "{error}"
        );
    }
}
