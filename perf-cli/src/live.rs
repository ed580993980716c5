//! The verbs that ask the running kernel: Linux alone.

use crate::args::live::Verb;
use crate::{Failure, Outcome};

mod list;
mod stat;

pub(crate) fn run(verb: &Verb) -> Result<Outcome, Failure> {
    match verb {
        Verb::Stat(args) => stat::run(args),
        Verb::List(args) => list::run(args),
    }
}
