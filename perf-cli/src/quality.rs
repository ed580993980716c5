//! The account of the stacks and names of a run.

use perf_profile::{Quality, doubtful};
use perf_symbol::{NoSymbols, SymbolLookup};
use serde_json::{Value, json};

use crate::escape::json_text;

/// Returns the members of the account: `stacks`, `frames`, `missing`, and `doubtful` if there are such files.
pub(crate) fn members(quality: &Quality, looked: &[SymbolLookup]) -> Vec<(&'static str, Value)> {
    let mut stacks = json!({"samples": quality.stacks()});
    for (end, count) in quality.ends() {
        stacks[end.name()] = (*count).into();
    }
    if quality.failed_unwinds() > 0 {
        stacks["failed_unwinds"] = quality.failed_unwinds().into();
    }
    let frames = json!({
        "total": quality.frames(),
        "mapped": quality.mapped(),
        "named": quality.named(),
        "with_line": quality.with_line(),
        "inlined": quality.inlined(),
        "guessed": quality.guessed(),
    });
    let missing: Vec<_> = quality
        .missing(looked)
        .into_iter()
        .map(|it| {
            let why = if it.is_beyond_limit { Some(NoSymbols::FetchLimit) } else { it.why };
            let why = why.map_or_else(|| "no symbols".to_owned(), |why| why.to_string());
            let mut missing = json!({"dso": json_text(it.dso.name())});
            if let Some(id) = it.build_id {
                missing["build_id"] = id.to_string().into();
            }
            missing["frames"] = it.frames.into();
            missing["why"] = why.into();
            missing["hint"] = it.cause().to_string().into();
            missing
        })
        .collect();
    let doubtful = doubtful(looked)
        .map(|(it, doubt)| {
            let mut doubtful = json!({"dso": json_text(it.dso.name()), "why": doubt.to_string()});
            if let Some(id) = &it.go_build_id {
                doubtful["go_build_id"] = id.to_string().into();
            }
            doubtful
        })
        .collect::<Vec<_>>();
    let mut members = vec![("stacks", stacks), ("frames", frames), ("missing", missing.into())];
    if !doubtful.is_empty() {
        members.push(("doubtful", doubtful.into()));
    }
    members
}

/// Returns a number with commas between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_groups() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (22_246, "22,246"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
