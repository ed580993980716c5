//! The names of a recording that goes on.

use std::time::{Duration, Instant};

use perf_profile::Symbols;

use crate::outcome::Failure;

/// The age at which what was read of files is read anew: generated code has other names then, and memory stays bounded.
const AGE: Duration = Duration::from_secs(60);

/// The names of functions, kept from one look at a recording to the next.
#[derive(Debug, Default)]
pub(crate) struct LiveNames {
    symbols: Option<(Instant, Symbols)>,
}

impl LiveNames {
    /// Calls `act` with the names so far; `None` if they are to be read anew, and then `act` leaves the new ones.
    ///
    /// # Errors
    ///
    /// Those of `act`. The names are forgotten.
    pub(crate) fn with<T>(
        &mut self,
        act: impl FnOnce(&mut Option<Symbols>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (read, mut symbols) = match self.symbols.take().filter(|(read, _)| read.elapsed() < AGE) {
            Some((read, symbols)) => (read, Some(symbols)),
            None => (Instant::now(), None),
        };
        let result = act(&mut symbols)?;
        self.symbols = symbols.map(|symbols| (read, symbols));
        Ok(result)
    }
}
