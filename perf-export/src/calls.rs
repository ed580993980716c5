//! The calls of a frame: the function at its address, and those that are inlined there.

use std::sync::Arc;

use perf_session::Dso;

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
}

/// Returns the calls of a frame, the outermost one first. There is at least one: that of a function that is not known.
#[must_use]
pub fn calls_of(profile: &Profile, frame: u32) -> Vec<Call<'_>> {
    let named = profile.named();
    let mut calls = Vec::new();
    for &FunctionAt { symbol, line } in named.functions_of(frame).iter().rev() {
        let symbol = named.symbol(symbol).map(|it| (symbol, it));
        let line = named.line(line);
        let is_inlined = symbol.is_some_and(|(_, symbol)| symbol.is_inlined);
        // What is inlined is inlined into something.
        if calls.is_empty() && is_inlined {
            calls.push(Call { symbol: None, line: None });
        }
        if symbol.is_some() || calls.is_empty() {
            calls.push(Call { symbol, line });
        }
    }
    if calls.is_empty() {
        calls.push(Call { symbol: None, line: None });
    }
    calls
}

/// Returns the name of a function that is not known: the name of its file without folders, in brackets.
#[must_use]
pub fn unknown_name(dso: Option<&Arc<Dso>>) -> String {
    let Some(dso) = dso else { return "[unknown]".to_owned() };
    let file = dso.name().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    // What has no file has brackets already.
    if file.starts_with(b"[") { OneLine(file).to_string() } else { format!("[{}]", OneLine(file)) }
}
