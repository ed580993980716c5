//! The verbs that ask the running kernel: Linux alone.

use crate::args::live::Verb;
use crate::{Failure, Outcome};

mod list;
mod record;
mod stat;
mod whom;

pub(crate) fn run(verb: &Verb) -> Result<Outcome, Failure> {
    match verb {
        Verb::Record(args) => record::run(args),
        Verb::Stat(args) => stat::run(args),
        Verb::List(args) => list::run(args),
    }
}
