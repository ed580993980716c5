//! The functions of a flame graph that are annotated.

use hashbrown::HashMap;
use perf_profile::{Profile, annotation::Annotation, table::frames::short_name, text::OneLine};
use perf_symbol::Guess;
use serde_json::Value;

use super::functions::{FlameFunction, FunctionKind, RankedFunctions};

/// Returns the annotated functions with the ranks of the functions that they are; `None` without any.
pub(super) fn json(
    annotations: &[Annotation],
    profiles: &[Profile],
    functions: &RankedFunctions,
) -> Option<Value> {
    if annotations.is_empty() {
        return None;
    }
    let mut files: HashMap<&[u8], Vec<String>> = HashMap::new();
    for dso in profiles.iter().flat_map(|profile| profile.frames().dsos()) {
        for name in [dso.name(), dso.path()] {
            let short = OneLine(&short_name(dso)).to_string();
            let shorts = files.entry(name).or_default();
            if !shorts.contains(&short) {
                shorts.push(short);
            }
        }
    }
    let ranks = |of: &Annotation| {
        let names = [&*of.symbol, &[&of.symbol, Guess::MARK.as_bytes()].concat()]
            .map(|name| OneLine(name).to_string());
        let files = files.get(&*of.dso).map_or(&[][..], |files| files);
        names.iter().flat_map(|name| ranks(&functions.list, name, files)).collect()
    };
    Some(crate::annotation::json(annotations, &ranks))
}

/// Returns the ranks of the functions with a name that are in one of the files. Inlined functions have no code of their own.
fn ranks(sorted: &[FlameFunction], name: &str, files: &[String]) -> Vec<u32> {
    let first = sorted.partition_point(|it| &*it.name < name);
    let same = sorted.iter().zip(0..).skip(first).take_while(|(it, _)| it.name == name);
    let is_it = |it: &FlameFunction| it.kind != FunctionKind::Inlined && files.contains(&it.file);
    same.filter(|(it, _)| is_it(it)).map(|(_, rank)| rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_name_and_file() {
        let function =
            |name: &str, file: &str, kind| FlameFunction { name: name.into(), file: file.into(), kind };
        let sorted = [
            function("a", "libc.so", FunctionKind::User),
            function("f", "libc.so", FunctionKind::User),
            function("f", "prog", FunctionKind::User),
            function("f", "prog", FunctionKind::Inlined),
            function("g", "prog", FunctionKind::User),
        ];
        assert_eq!(ranks(&sorted, "f", &["prog".into()]), [2]);
        assert_eq!(ranks(&sorted, "f", &["prog".into(), "libc.so".into()]), [1, 2]);
        assert!(ranks(&sorted, "b", &["prog".into()]).is_empty());
        assert!(ranks(&sorted, "f", &[]).is_empty());
    }
}
