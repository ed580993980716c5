//! The command line arguments.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::races::RACES;

/// The output of `--help`.
pub(crate) const HELP: &str = "\
usage: bench [--inputs DIR] [--rounds N] [--mb N] [--binary FILE]
             [--addresses N] [--quick] [RACE...]
       bench count INPUT WAY | --list | --agree    for count.sh, which counts instructions

Races: memory file stream dispatch types dump script growth order live session scale symbols edit size start build; all of
them if none is named.

  --inputs DIR  folder of existing captures; the default is bench/inputs, into which they are recorded once (needs root,
                perf, gcc, 1 GB)
  --rounds N    number of runs of each contestant, 7 or more; default 9
  --mb N        size of the larger capture of the races size and start, in MB; default 8000 and 10000, 8 in quick mode. Twice
                as much space must be free in the folder for temporary files
  --binary FILE file with debug information for the race symbols; default this program
  --addresses N number of addresses of the race symbols; default 1000000, 1000 in quick mode
  --quick       only checks that all ways find the same: small captures, one round, no figures";

/// The arguments: the races to run, and their settings.
#[derive(Debug)]
pub(crate) struct Args {
    /// Directory of the captures; `None` for the default, into which they are recorded.
    pub(crate) inputs: Option<PathBuf>,
    /// Number of rounds of every race.
    pub(crate) rounds: usize,
    /// Bytes of the larger capture of the races `size` and `start`; `None` for the default.
    pub(crate) size: Option<u64>,
    /// The file of the race `symbols`; `None` for this program.
    pub(crate) binary: Option<PathBuf>,
    /// Number of addresses of the race `symbols`; `None` for the default.
    pub(crate) addresses: Option<usize>,
    /// Whether to check only that the contestants agree.
    pub(crate) quick: bool,
    /// Names of the races to run; empty for all.
    pub(crate) races: Vec<String>,
}

/// Minimum number of rounds; fewer do not show how much the figures vary.
const MIN_ROUNDS: usize = 7;

/// Parses the arguments; returns `None` if they ask for help.
pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Args>, Failure> {
    let mut parsed = Args {
        inputs: None,
        rounds: 9,
        size: None,
        binary: None,
        addresses: None,
        quick: false,
        races: Vec::new(),
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| Failure::of(&arg, "needs a value"));
        match arg.as_str() {
            "--help" | "-h" => return Ok(None),
            "--quick" => parsed.quick = true,
            "--inputs" => parsed.inputs = Some(value()?.into()),
            "--addresses" => {
                parsed.addresses = Some(value()?.parse().map_err(|error| Failure::of("--addresses", error))?);
            }
            "--binary" => parsed.binary = Some(value()?.into()),
            "--mb" => {
                let mb: u64 = value()?.parse().map_err(|error| Failure::of("--mb", error))?;
                parsed.size = Some(mb.saturating_mul(1_000_000));
            }
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
