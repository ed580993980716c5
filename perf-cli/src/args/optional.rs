//! Options whose value may be left out, and which take the word after them only if that is a value.

use core::num::NonZero;
use std::ffi::OsString;

use perf_profile::report::CallGraphOptions;

/// An option whose value may be left out.
struct Optional {
    verbs: &'static [&'static str],
    names: &'static [&'static str],
    is_value: fn(&str) -> bool,
}

const ALL: [Optional; 3] = [
    Optional {
        verbs: &["report", "c2c"],
        names: &["-g", "--call-graph"],
        is_value: |text| text.parse::<CallGraphOptions>().is_ok(),
    },
    Optional {
        verbs: &["fold", "flamegraph", "export"],
        names: &["--wakers"],
        is_value: |text| text.parse::<NonZero<usize>>().is_ok(),
    },
    Optional {
        verbs: &["flamegraph"],
        names: &["--annotate"],
        is_value: |text| super::annotate::percent(text).is_ok(),
    },
];

/// Joins such options and the word after them with `=`, if that word is a value. Else clap would take the name of the capture
/// as the value.
pub(super) fn with_equals(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut open: Option<&Optional> = None;
    for arg in args {
        let value = arg.to_str().filter(|text| !text.is_empty());
        let value = value.filter(|text| open.is_some_and(|option| (option.is_value)(text)));
        if let (Some(value), Some(last)) = (value, joined.last_mut()) {
            last.push("=");
            last.push(value);
            open = None;
            continue;
        }
        let is_of_verb = |option: &&Optional| {
            option.verbs.iter().any(|verb| super::from_verb(&joined).first().is_some_and(|it| it == verb))
        };
        let is_named = |option: &&Optional| option.names.iter().any(|name| is_short_for(&arg, name));
        open = ALL.iter().filter(is_of_verb).find(is_named);
        joined.push(arg);
    }
    joined
}

/// Returns whether a word is an option, or the beginning of its long name. If other options begin like it, that is an error anyway.
fn is_short_for(word: &OsString, name: &str) -> bool {
    let begins = |word: &str| word.len() > "--".len() && word.starts_with("--") && name.starts_with(word);
    word == name || word.to_str().is_some_and(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(args: &str) -> String {
        let args = args.split(' ').map(Into::into);
        let joined = with_equals(args);
        joined.iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_after_g_belongs_to_it() {
        assert_eq!(joined("perfdata report -g caller,2 x.data"), "perfdata report -g=caller,2 x.data");
        assert_eq!(joined("perfdata report --call-graph none"), "perfdata report --call-graph=none");
        assert_eq!(joined("perfdata --no-pager report -g none"), "perfdata --no-pager report -g=none");
        assert_eq!(joined("perfdata report -g x.data"), "perfdata report -g x.data");
        assert_eq!(joined("perfdata report -g -n"), "perfdata report -g -n");
        assert_eq!(joined("perfdata report x.data -g"), "perfdata report x.data -g");
        assert_eq!(joined("perfdata record -g caller"), "perfdata record -g caller");
    }

    #[test]
    fn only_a_number_after_wakers_belongs_to_it() {
        assert_eq!(joined("perfdata fold --wakers 2 x.data"), "perfdata fold --wakers=2 x.data");
        assert_eq!(joined("perfdata fold --wakers x.data"), "perfdata fold --wakers x.data");
        assert_eq!(joined("perfdata export --wakers 2x"), "perfdata export --wakers 2x");
        assert_eq!(joined("perfdata dump --wakers 2"), "perfdata dump --wakers 2");
    }

    #[test]
    fn only_a_percentage_after_annotate_belongs_to_it() {
        assert_eq!(
            joined("perfdata flamegraph --annotate 1% x.data"),
            "perfdata flamegraph --annotate=1% x.data"
        );
        assert_eq!(joined("perfdata flamegraph --annotate 0.5"), "perfdata flamegraph --annotate=0.5");
        assert_eq!(joined("perfdata flamegraph --annotate x.data"), "perfdata flamegraph --annotate x.data");
        assert_eq!(joined("perfdata annotate --annotate 1"), "perfdata annotate --annotate 1");
    }
}
