//! The calls of a frame: the function at its address, and those that are inlined there.

use std::sync::Arc;

use perf_session::Dso;
use perf_symbol::Guess;

use crate::function_table::{FunctionAt, SourceLine, Symbol};
use crate::profile::Profile;
use crate::table::frames::NONE;
use crate::text::OneLine;

/// A call in a stack.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The number of the symbol, and the symbol; `None` if the function is not known.
    pub symbol: Option<(u32, &'a Symbol)>,
    /// Where the function was; `None` if that is not known.
    pub line: Option<&'a SourceLine>,
}

/// Returns the calls of a frame, the outermost one first. There is at least one: that of a function that is not known.
#[must_use]
pub fn calls_of(profile: &Profile, frame: u32) -> Vec<Call<'_>> {
    each_call(profile, frame).map(|(call, _)| call).collect()
}

/// Returns the same one after the other, each with the number of its line or [`NONE`].
#[inline]
pub fn each_call(profile: &Profile, frame: u32) -> impl Iterator<Item = (Call<'_>, u32)> {
    let named = profile.function_table();
    let call = |&FunctionAt { symbol, line }: &FunctionAt| {
        (Call { symbol: named.symbol(symbol).map(|it| (symbol, it)), line: named.line(line) }, line)
    };
    let mut others = named.functions_of(frame).iter().rev().map(call);
    let outermost = others.next();
    // What is inlined is inlined into something.
    let is_inlined = |(call, _): &(Call<'_>, u32)| call.symbol.is_some_and(|(_, symbol)| symbol.is_inlined);
    let unknown = (Call { symbol: None, line: None }, NONE);
    let unknown = outermost.as_ref().is_none_or(is_inlined).then_some(unknown);
    unknown.into_iter().chain(outermost).chain(others.filter(|(call, _)| call.symbol.is_some()))
}

/// Returns the name of a function that is not known: the name of its file without folders, in brackets, and
/// [`Guess::MARK`] if the frame is a guess.
#[must_use]
pub fn unknown_name(dso: Option<&Arc<Dso>>, guess: Option<Guess>) -> String {
    let mark = if guess.is_some() { Guess::MARK } else { "" };
    let Some(dso) = dso else { return format!("[unknown]{mark}") };
    let file = dso.name().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    // What has no file has brackets already.
    if file.starts_with(b"[") {
        format!("{}{mark}", OneLine(file))
    } else {
        format!("[{}]{mark}", OneLine(file))
    }
}
