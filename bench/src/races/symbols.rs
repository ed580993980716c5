//! Functions, inlined functions and lines of random addresses of one file: the first look-up, all of them with a file that was just
//! opened, and the same ones again.

use std::env;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use super::Context;
use crate::failure::Failure;
use crate::race::median;
use crate::random::Random;
use crate::symbolizers::{self, OURS, SymbolizerPeer};
use crate::table::{Goal, Table};

/// Number of addresses, and that of `--quick`.
const ADDRESSES: usize = 1_000_000;
const QUICK: usize = 1000;

/// The share of addresses at which addr2line may find other inlined functions than perf-symbol, or one of them nothing.
const OTHERS: f64 = 0.01;

/// The names at an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct NameHashes {
    /// A hash of the names of inlined functions, in their order.
    inlined: u64,
    /// A hash of the name of the outermost function.
    outermost: u64,
    functions: u32,
}

/// Number of addresses at which two do not find the same names.
#[derive(Clone, Copy, Debug, Default)]
struct NameDifferences {
    inlined: usize,
    outermost: usize,
    /// Where only one of them finds a name.
    missing: usize,
}

impl NameDifferences {
    fn of(ours: &[NameHashes], theirs: &[NameHashes]) -> Self {
        let mut it = Self::default();
        for (ours, theirs) in ours.iter().zip(theirs).filter(|(ours, theirs)| ours != theirs) {
            let count = if ours.functions == 0 || theirs.functions == 0 {
                &mut it.missing
            } else if (ours.inlined, ours.functions) == (theirs.inlined, theirs.functions) {
                &mut it.outermost
            } else {
                &mut it.inlined
            };
            *count += 1;
        }
        it
    }

    /// Returns the number without those of the outermost function: DWARF may not have its name as the linker has it.
    fn certain(self) -> usize {
        self.inlined + self.missing
    }
}

/// Seconds of each round.
#[derive(Debug, Default)]
struct LookUpTimes {
    first: Vec<f64>,
    opened: Vec<f64>,
    again: Vec<f64>,
}

pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let path = context.binary.as_ref().map_or_else(env::current_exe, std::path::absolute)?;
    let count = context.addresses.unwrap_or(if context.quick { QUICK } else { ADDRESSES });
    let addresses = random(&path, count.max(1))?;
    let (peers, mut notes) = symbolizers::all();
    let names = peers.iter().map(|peer| names(peer, &path, &addresses)).collect::<Result<Vec<_>, _>>()?;
    let differences: Vec<_> = names.iter().map(|theirs| NameDifferences::of(&names[0], theirs)).collect();
    let megabytes = path.metadata()?.len() / 1_000_000;
    let file = path.file_name().unwrap_or_default().display();
    let title = format!("{} random addresses of {file}, {megabytes} MB", addresses.len());
    for (peer, differences) in peers.iter().zip(&differences).take(OURS + 1) {
        let others = differences.certain() as f64 / addresses.len() as f64;
        if others > OTHERS {
            return Err(Failure::of(
                &peer.name,
                format!("finds other names than perf-symbol: {differences:?}"),
            ));
        }
    }
    if context.quick {
        return Ok(vec![Table::new(title, &[])]);
    }
    let mut times: Vec<LookUpTimes> = peers.iter().map(|_| LookUpTimes::default()).collect();
    for _ in 0..context.rounds {
        for (peer, times) in peers.iter().zip(&mut times) {
            measure(peer, &path, &addresses, times)?;
        }
    }

    let head = [
        "way",
        "first, ms",
        "x",
        "opened, ns an address",
        "x",
        "again, ns an address",
        "x",
        "other inlined names",
        "other outermost names",
        "found by one alone",
    ];
    let mut table = Table::new(title, &head);
    for ((peer, theirs), differences) in peers.iter().zip(&times).zip(differences) {
        let cells = |theirs: &[f64], ours: &[f64], unit: f64| {
            [format!("{:.2}", median(theirs.to_vec()) * unit), format!("{:.2}", ratio(theirs, ours))]
        };
        let each = 1e9 / addresses.len() as f64;
        let mut row = vec![peer.name.clone()];
        row.extend(cells(&theirs.first, &times[0].first, 1e3));
        row.extend(cells(&theirs.opened, &times[0].opened, each));
        row.extend(cells(&theirs.again, &times[0].again, each));
        row.extend(
            [differences.inlined, differences.outermost, differences.missing].map(|it| it.to_string()),
        );
        table.rows.push(row);
    }
    let least = |of: fn(&LookUpTimes) -> &Vec<f64>| {
        times[OURS..].iter().map(|theirs| ratio(of(theirs), of(&times[0]))).fold(f64::INFINITY, f64::min)
    };
    for (what, figure) in [
        ("first look-up, the fastest peer against perf-symbol", least(|it| &it.first)),
        ("all look-ups with a file just opened", least(|it| &it.opened)),
        ("the same look-ups again", least(|it| &it.again)),
    ] {
        table.judge(what, figure, Goal::AtLeast(1.0));
    }
    table.notes.append(&mut notes);
    Ok(vec![table])
}

/// Returns the median of the ratios of all rounds.
fn ratio(theirs: &[f64], ours: &[f64]) -> f64 {
    median(theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect())
}

/// Returns addresses of the file's `.text`.
fn random(path: &Path, count: usize) -> Result<Vec<u64>, Failure> {
    let text = symbolizers::text(path)?;
    let size = text.end.saturating_sub(text.start).max(1);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    Ok((0..count).map(|_| text.start + random.next() % size).collect())
}

/// Finds the names of all addresses.
fn names(peer: &SymbolizerPeer, path: &Path, addresses: &[u64]) -> Result<Vec<NameHashes>, Failure> {
    let mut names = vec![NameHashes::default(); addresses.len()];
    peer.open(path)?.find(addresses, &mut |number, name, _| {
        if name.is_empty() {
            return;
        }
        let names = &mut names[number];
        // The name until now was that of an inlined function.
        names.inlined = names.inlined.wrapping_mul(31).wrapping_add(names.outermost);
        names.outermost = hash(name);
        names.functions += 1;
    })?;
    Ok(names)
}

/// FNV-1a.
fn hash(name: &[u8]) -> u64 {
    name.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Opens the file, and looks up one address, all, and all again.
fn measure(
    peer: &SymbolizerPeer,
    path: &Path,
    addresses: &[u64],
    times: &mut LookUpTimes,
) -> Result<(), Failure> {
    let mut sum = 0_u64;
    let mut add = |_: usize, name: &[u8], line: u32| {
        sum = sum.wrapping_add(name.len() as u64).wrapping_add(line.into());
    };
    let start = Instant::now();
    let mut file = peer.open(path)?;
    file.find(&addresses[..1], &mut add)?;
    times.first.push(start.elapsed().as_secs_f64());
    file.find(addresses, &mut add)?;
    times.opened.push(start.elapsed().as_secs_f64());
    let start = Instant::now();
    file.find(addresses, &mut add)?;
    times.again.push(start.elapsed().as_secs_f64());
    black_box(sum);
    Ok(())
}
