//! Optional values that follow a short option directly, as perf has them: `-Iax`, `-z3`.

use std::ffi::OsString;

use clap::{Arg, Command};

/// Returns the arguments with `=` before such values, because clap takes `-Iax` for the options `-I -a -x`. Changes the
/// options of `perfdata record` alone, and nothing from the command to record on.
pub(crate) fn with_equals(args: Vec<OsString>, whole: &Command) -> Vec<OsString> {
    let from_verb = super::super::from_verb(&args);
    let verb =
        from_verb.first().filter(|verb| *verb == "record").and_then(|verb| whole.find_subcommand(verb));
    let Some(verb) = verb else { return args };
    let before = args.len() - from_verb.len();
    let mut args = args.into_iter();
    let mut joined: Vec<OsString> = args.by_ref().take(before + 1).collect();
    while let Some(word) = args.next() {
        let kind = word.to_str().map_or(Word::Last, |text| Word::of(text, verb));
        match (kind, word.to_str()) {
            (Word::Attached(at), Some(text)) => {
                let (option, value) = text.split_at(at);
                joined.push(format!("{option}={value}").into());
            }
            (Word::TakesNext, _) => {
                joined.push(word);
                joined.extend(args.next());
            }
            (Word::Last, _) => {
                joined.push(word);
                break;
            }
            _ => joined.push(word),
        }
    }
    joined.extend(args);
    joined
}

/// The kind of a word of the command line.
enum Word {
    /// Options, with their values.
    Options,
    /// Options whose last one has the next word as its value.
    TakesNext,
    /// Options whose last one has an optional value, which starts at this byte.
    Attached(usize),
    /// The command, or `--` before it.
    Last,
}

impl Word {
    fn of(text: &str, verb: &Command) -> Self {
        let takes_one = |arg: &Arg| arg.get_action().takes_values() && !is_optional(arg);
        if let Some(name) = text.strip_prefix("--").filter(|name| !name.is_empty()) {
            let longs = || verb.get_arguments().filter_map(|arg| Some((arg, arg.get_long()?)));
            let mut short_for = longs().filter(|(_, long)| long.starts_with(name));
            let only = short_for.next().filter(|_| short_for.next().is_none());
            let option = longs().find(|(_, long)| *long == name).or(only).map(|(arg, _)| arg);
            return if option.is_some_and(takes_one) { Self::TakesNext } else { Self::Options };
        }
        let Some(shorts) = text.strip_prefix('-').filter(|shorts| !shorts.is_empty() && *shorts != "-")
        else {
            return Self::Last;
        };
        for (at, short) in shorts.char_indices() {
            let after = at + short.len_utf8();
            let rest = shorts.get(after..).unwrap_or_default();
            match verb.get_arguments().find(|arg| arg.get_short() == Some(short)) {
                Some(arg) if is_optional(arg) => {
                    let is_attached = !rest.is_empty() && !rest.starts_with('=');
                    return if is_attached { Self::Attached(1 + after) } else { Self::Options };
                }
                Some(arg) if takes_one(arg) => {
                    return if rest.is_empty() { Self::TakesNext } else { Self::Options };
                }
                Some(_) => {}
                None => return Self::Options,
            }
        }
        Self::Options
    }
}

/// Returns whether the value of an option may be left out.
fn is_optional(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|values| (values.min_values(), values.max_values()) == (0, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(args: &str) -> String {
        let args = args.split(' ').map(Into::into).collect();
        let joined = with_equals(args, &crate::args::Args::whole());
        joined.iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_that_follow_directly() {
        for (args, expected) in [
            ("-Iax,bx true", "-I=ax,bx true"),
            ("-I? true", "-I=? true"),
            ("-gz3 -a", "-gz=3 -a"),
            ("-I=ax true", "-I=ax true"),
            ("-I true", "-I true"),
            ("-o -Ifile true", "-o -Ifile true"),
            ("--output -Ifile true", "--output -Ifile true"),
            ("--freq=99 -z1", "--freq=99 -z=1"),
            ("--call-g dwarf -z1", "--call-g dwarf -z=1"),
            ("true -Iax", "true -Iax"),
            ("-- -Iax", "-- -Iax"),
        ] {
            assert_eq!(joined(&format!("perfdata record {args}")), format!("perfdata record {expected}"));
        }
        assert_eq!(joined("perfdata --no-pager record -z3"), "perfdata --no-pager record -z=3");
        assert_eq!(joined("perfdata stat -Iax"), "perfdata stat -Iax");
    }
}
