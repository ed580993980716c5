//! A capture, and the ways to decode it.

use std::error::Error;

use super::capture::Capture;
use super::sums::Sums;

/// The result of a way.
pub(crate) type Outcome = Result<Sums, Box<dyn Error>>;

/// A way to decode a capture.
pub(crate) struct Way {
    /// Its name, for the command line.
    pub(crate) name: &'static str,
    /// Decodes the whole capture once.
    pub(crate) run: fn(&Capture) -> Outcome,
}

/// A capture, and the ways to decode it.
pub(crate) struct Workload {
    /// Its name, for the command line.
    pub(crate) name: &'static str,
    /// Makes the capture.
    pub(crate) capture: fn() -> Capture,
    /// Ways that read only the headers, if the input has headers. All of them find the same.
    pub(crate) hops: &'static [Way],
    /// Ways that decode all fields. All of them find the same.
    pub(crate) decoders: &'static [Way],
}

impl Workload {
    /// Iterates over all ways.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &'static Way> {
        self.hops.iter().chain(self.decoders)
    }

    /// Runs all ways, which must agree.
    pub(crate) fn agree(&self, capture: &Capture) -> Result<(), Box<dyn Error>> {
        for ways in [self.hops, self.decoders] {
            let Some(first) = ways.first() else { continue };
            let expected = (first.run)(capture)?;
            for way in ways {
                let found = (way.run)(capture)?;
                if found != expected {
                    let (input, first) = (self.name, first.name);
                    return Err(format!("{input}: {first}: {expected:?}, but {}: {found:?}", way.name).into());
                }
            }
        }
        Ok(())
    }
}
