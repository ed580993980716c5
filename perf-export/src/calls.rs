//! The calls of a frame: the function at its address, and those that are inlined there.

use std::sync::Arc;

use perf_session::Dso;

use crate::frames::NONE;
use crate::named::{FunctionAt, Line, Symbol};
use crate::profile::Profile;
use crate::text::OneLine;

/// A call in a stack.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The number of the symbol, and the symbol; `None` if the function is not known.
    pub symbol: Option<(u32, &'a Symbol)>,
    /// Where the function was; `None` if that is not known.
    pub line: Option<&'a Line>,
    /// The number of the line, or [`NONE`](crate::NONE).
    #[cfg_attr(
        not(feature = "firefox"),
        allow(dead_code, reason = "other formats have no table of source files")
    )]
    pub(crate) line_number: u32,
}

/// The call of a function that is not known.
const UNKNOWN: Call<'_> = Call { symbol: None, line: None, line_number: NONE };

/// Returns the calls of a frame, the outermost one first. There is at least one: that of a function that is not known.
#[must_use]
pub fn calls_of(profile: &Profile, frame: u32) -> Vec<Call<'_>> {
    each_call(profile, frame).collect()
}

/// Returns the same, one after the other.
#[inline]
pub(crate) fn each_call(profile: &Profile, frame: u32) -> impl Iterator<Item = Call<'_>> {
    let named = profile.named();
    let call = |it: &FunctionAt| Call {
        symbol: named.symbol(it.symbol).map(|symbol| (it.symbol, symbol)),
        line: named.line(it.line),
        line_number: it.line,
    };
    let mut others = named.functions_of(frame).iter().rev().map(call);
    let outermost = others.next();
    // What is inlined is inlined into something.
    let is_inlined = |call: &Call<'_>| call.symbol.is_some_and(|(_, symbol)| symbol.is_inlined);
    let unknown = outermost.as_ref().is_none_or(is_inlined).then_some(UNKNOWN);
    unknown.into_iter().chain(outermost).chain(others.filter(|call| call.symbol.is_some()))
}

/// Returns the name of a function that is not known: the name of its file without folders, in brackets.
#[must_use]
pub fn unknown_name(dso: Option<&Arc<Dso>>) -> String {
    let Some(dso) = dso else { return "[unknown]".to_owned() };
    let file = dso.name().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    // What has no file has brackets already.
    if file.starts_with(b"[") { OneLine(file).to_string() } else { format!("[{}]", OneLine(file)) }
}
