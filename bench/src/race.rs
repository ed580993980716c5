//! A race: in each round all contestants run in turn, so that a disturbance of the machine
//! affects all of them.

use std::fmt::Debug;
use std::hint::black_box;
use std::time::Instant;

use crate::allocations::{self, Allocations};
use crate::failure::Failure;
use crate::table::Table;

/// One way of doing the work of a race.
pub(crate) struct Contestant<'a, T> {
    name: &'static str,
    run: Box<dyn FnMut() -> Result<Option<T>, Failure> + 'a>,
}

impl<'a, T> Contestant<'a, T> {
    /// Returns a contestant that does all of the work; it must find the same values as the others.
    pub(crate) fn new(name: &'static str, mut run: impl FnMut() -> Result<T, Failure> + 'a) -> Self {
        Self { name, run: Box::new(move || run().map(Some)) }
    }

    /// Returns a contestant as [`new`](Self::new) does, for work that fails without a reason.
    pub(crate) fn whole(name: &'static str, mut run: impl FnMut() -> Option<T> + 'a) -> Self {
        Self::new(name, move || run().ok_or_else(|| Failure("a record cannot be decoded".into())))
    }

    /// Returns a contestant that does less work, as a bound on what is possible.
    pub(crate) fn bound<U>(name: &'static str, mut run: impl FnMut() -> U + 'a) -> Self {
        let run = move || {
            black_box(run());
            Ok(None)
        };
        Self { name, run: Box::new(run) }
    }
}

/// The result of a contestant.
#[derive(Debug)]
pub(crate) struct Standing {
    /// Name of the contestant.
    pub(crate) name: &'static str,
    /// Seconds of each round.
    pub(crate) seconds: Vec<f64>,
    /// Allocations of one round.
    pub(crate) allocations: Allocations,
}

impl Standing {
    /// Returns the ratio of this contestant's time to that of `other`: the median of the
    /// ratios of all rounds.
    pub(crate) fn over(&self, other: &Self) -> f64 {
        median(self.seconds.iter().zip(&other.seconds).map(|(this, other)| this / other).collect())
    }
}

/// Returns the median.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The results of all contestants of a race, in the order in which they ran.
#[derive(Debug)]
pub(crate) struct Standings(pub(crate) Vec<Standing>);

/// Runs all contestants once to check that they agree, then `rounds` times.
///
/// # Errors
///
/// If a contestant fails, or finds other values than the first one.
pub(crate) fn race<T: PartialEq + Debug>(
    mut contestants: Vec<Contestant<'_, T>>,
    rounds: usize,
) -> Result<Standings, Failure> {
    let mut expected: Option<(&str, T)> = None;
    let mut standings = Vec::new();
    for contestant in &mut contestants {
        let (found, allocations) = allocations::during(|| (contestant.run)());
        let found = found.map_err(|failure| Failure::of(contestant.name, failure))?;
        match (&expected, found) {
            (None, Some(found)) => expected = Some((contestant.name, found)),
            (Some((first, expected)), Some(found)) if *expected != found => {
                let why = format!("found {found:#?}\nwhere {first} found {expected:#?}");
                return Err(Failure::of(contestant.name, why));
            }
            _ => {}
        }
        standings.push(Standing { name: contestant.name, seconds: Vec::new(), allocations });
    }
    for _ in 0..rounds {
        for (contestant, standing) in contestants.iter_mut().zip(&mut standings) {
            let start = Instant::now();
            let found = black_box((contestant.run)()?);
            standing.seconds.push(start.elapsed().as_secs_f64());
            if let (Some(found), Some((_, expected))) = (found, &expected)
                && found != *expected
            {
                return Err(Failure::of(contestant.name, format!("found {found:#?} in a later round")));
            }
        }
    }
    Ok(Standings(standings))
}

impl Standings {
    /// Returns the result of the contestant with this name.
    ///
    /// # Errors
    ///
    /// If no contestant has this name.
    pub(crate) fn of(&self, name: &str) -> Result<&Standing, Failure> {
        let found = self.0.iter().find(|standing| standing.name == name);
        found.ok_or_else(|| Failure::of(name, "is not in the race"))
    }

    /// Returns the ratio of the time of contestant `name` to that of `other`.
    ///
    /// # Errors
    ///
    /// If one of them is not in the race.
    pub(crate) fn ratio(&self, name: &str, other: &str) -> Result<f64, Failure> {
        Ok(self.of(name)?.over(self.of(other)?))
    }

    /// Returns the fastest contestant of `names`.
    ///
    /// # Errors
    ///
    /// If none of them is in the race.
    pub(crate) fn fastest(&self, names: &[&str]) -> Result<&'static str, Failure> {
        let among = self.0.iter().filter(|standing| names.contains(&standing.name));
        let middle = |standing: &Standing| median(standing.seconds.clone());
        let fastest = among.min_by(|one, other| middle(one).total_cmp(&middle(other)));
        fastest.map(|standing| standing.name).ok_or_else(|| Failure("no peer is in the race".into()))
    }

    /// Returns a table with a row for each contestant: nanoseconds per record, ratio to
    /// `floor`, and allocations.
    ///
    /// # Errors
    ///
    /// If `floor` is not in the race.
    pub(crate) fn table(&self, title: String, work: Work, floor: &str) -> Result<Table, Failure> {
        let mut table = self.times(title, work, floor)?;
        table.head.extend(["allocations a record".to_owned(), "peak heap, KiB".to_owned()]);
        for (row, Standing { allocations, .. }) in table.rows.iter_mut().zip(&self.0) {
            row.push(format!("{:.2}", allocations.count as f64 / work.records as f64));
            row.push(format!("{:.0}", allocations.peak as f64 / 1024.0));
        }
        Ok(table)
    }

    /// Returns the table without allocations, for contestants that allocate in another process.
    ///
    /// # Errors
    ///
    /// If `floor` is not in the race.
    pub(crate) fn times(&self, title: String, work: Work, floor: &str) -> Result<Table, Failure> {
        let mut table = Table::new(title, &["way", "ns a record", "min-max", "GB/s", &format!("x {floor}")]);
        let floor = self.of(floor)?;
        for standing in &self.0 {
            let a_record = |seconds: f64| seconds * 1e9 / work.records as f64;
            let middle = a_record(median(standing.seconds.clone()));
            let least = standing.seconds.iter().copied().fold(f64::INFINITY, f64::min);
            let most = standing.seconds.iter().copied().fold(0.0, f64::max);
            table.rows.push(vec![
                standing.name.to_owned(),
                format!("{middle:.2}"),
                format!("{:.2}-{:.2}", a_record(least), a_record(most)),
                format!("{:.2}", work.bytes as f64 / work.records as f64 / middle),
                format!("{:.2}", standing.over(floor)),
            ]);
        }
        Ok(table)
    }
}

/// The amount of data to decode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Number of records.
    pub(crate) records: u64,
    /// Bytes of the records.
    pub(crate) bytes: u64,
}
