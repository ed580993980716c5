//! Races the decoders of perf-aux against their peers, and perfdata's samples of Arm SPE against perf's.
//!
//!     cargo run --release --manifest-path bench/traces/Cargo.toml -- [--rounds N] [--mb N] [PERFDATA PERF]
//!
//! All decoders of Intel PT must find the same packets. With two programs, `PERFDATA script --itrace` races `PERF script --itrace`.

#[path = "../../src/allocations.rs"]
mod allocations;
#[path = "../../src/failure.rs"]
mod failure;
mod programs;
mod pt;
#[path = "../../src/race.rs"]
#[allow(dead_code, reason = "the other races need all of it")]
mod race;
mod spe;
#[path = "../../src/table.rs"]
#[allow(dead_code, reason = "the other races need all of it")]
mod table;
mod trace;

use failure::Failure;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut rounds, mut megabytes, mut names) = (15, 16, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number =
            || args.next().and_then(|text| text.parse().ok()).ok_or(format!("{arg} needs a number"));
        match arg.as_str() {
            "--rounds" => rounds = number()?,
            "--mb" => megabytes = number()?,
            _ => names.push(arg),
        }
    }
    let mut tables = vec![pt::run(megabytes << 20, rounds), spe::run(megabytes << 20, rounds)];
    match &names[..] {
        [] => {}
        [perfdata, perf] => tables.push(programs::run(perfdata, perf, rounds.min(5))),
        _ => Err("usage: traces [--rounds N] [--mb N] [PERFDATA PERF]")?,
    }
    for table in tables {
        println!("{}", table.map_err(|Failure(why)| why)?);
    }
    Ok(())
}

/// Returns the speed of a contestant in MB a second, by its fastest round: others disturb the rest.
fn megabytes_a_second(standing: &race::Standing, bytes: usize) -> f64 {
    bytes as f64 / 1e6 / standing.seconds.iter().copied().fold(f64::INFINITY, f64::min)
}
