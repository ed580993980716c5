//! The quality of stacks and names.

use perf_profile::Quality;
use perf_symbol::SymbolLookup;
use wasm_bindgen::JsValue;

use crate::object::{Members, list};

/// Returns how stacks end, how many frames have names, and the files that names are missing of.
pub(crate) fn value(quality: &Quality, lookups: &[SymbolLookup]) -> JsValue {
    let stacks = Members::default();
    stacks.count("samples", quality.stacks());
    for (end, count) in quality.ends() {
        stacks.count(end.name(), *count);
    }
    let frames = Members::default();
    frames.count("total", quality.frames());
    frames.count("mapped", quality.mapped());
    frames.count("named", quality.named());
    frames.count("with_line", quality.with_line());
    frames.count("inlined", quality.inlined());
    frames.count("guessed", quality.guessed());
    let missing = quality.missing(lookups).into_iter().map(|it| {
        let members = Members::default();
        members.text("dso", Some(it.dso.name()));
        members.set("build_id", it.build_id.map_or(JsValue::NULL, |id| id.to_string().into()));
        members.count("frames", it.frames);
        members.set("hint", it.cause().to_string());
        members
    });
    let members = Members::default();
    members.set("stacks", stacks);
    members.set("frames", frames);
    members.set("missing", list(missing));
    members.into()
}
