//! The arguments.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::races::RACES;

/// What `--help` says.
pub(crate) const HELP: &str = "\
usage: bench [--inputs DIR] [--rounds N] [--quick] [RACE...]

Races: memory file stream dispatch types dump growth order live build; all of them where none is named.

  --inputs DIR  captures recorded before; without it they are recorded into bench/inputs, once (root, perf, gcc, 1 GB)
  --rounds N    how often each contestant runs, 7 or more; default 9
  --quick       small captures, one round, no figures: whether all ways find the same";

/// What is to be raced, and how.
#[derive(Debug)]
pub(crate) struct Args {
    /// Where the captures are; `None` for the folder they are recorded into.
    pub(crate) inputs: Option<PathBuf>,
    /// Rounds of every race.
    pub(crate) rounds: usize,
    /// Whether only agreement is checked.
    pub(crate) quick: bool,
    /// The races by name; none for all.
    pub(crate) races: Vec<String>,
}

/// Fewer rounds than this tell nothing of how far figures scatter.
const MIN_ROUNDS: usize = 7;

/// Takes the arguments; `None` if help was asked for.
pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Args>, Failure> {
    let mut parsed = Args { inputs: None, rounds: 9, quick: false, races: Vec::new() };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| Failure::of(&arg, "needs a value"));
        match arg.as_str() {
            "--help" | "-h" => return Ok(None),
            "--quick" => parsed.quick = true,
            "--inputs" => parsed.inputs = Some(value()?.into()),
            "--rounds" => {
                let rounds = value()?.parse().map_err(|error| Failure::of("--rounds", error))?;
                if rounds < MIN_ROUNDS {
                    return Err(Failure::of("--rounds", format!("{rounds} is fewer than {MIN_ROUNDS}")));
                }
                parsed.rounds = rounds;
            }
            race if RACES.iter().any(|&(name, _)| name == race) => parsed.races.push(arg),
            _ => return Err(Failure::of(arg, "neither an option nor a race")),
        }
    }
    Ok(Some(parsed))
}
