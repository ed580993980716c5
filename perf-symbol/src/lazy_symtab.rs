//! The symbols of a file that may be read late, as a cache may have all functions that are looked up.

use std::sync::OnceLock;

use crate::bounds::ReadBounds;
use crate::cancellation::Cancellation;
use crate::dso_files::DsoFiles;
use crate::elf_symbols;
use crate::file_finder::FileFinder;
use crate::no_symbols::NoSymbols;
use crate::reservation::Reservation;
use crate::symtab::{NameSource, Symtab};

/// The symbols of a file, read at once or when they are first needed.
#[derive(Debug)]
pub(crate) struct LazySymtab {
    finder: FileFinder,
    table: OnceLock<Symtab>,
    /// The memory of a table that was read late, or that there was no room for it.
    reserved: OnceLock<Result<Reservation, NoSymbols>>,
}

impl LazySymtab {
    /// A table that is not read yet.
    pub(crate) fn new(finder: &FileFinder) -> Self {
        Self { finder: finder.clone(), table: OnceLock::new(), reserved: OnceLock::new() }
    }

    /// Reads the table at once. Its memory is reserved by the caller.
    pub(crate) fn load(&self, found: &DsoFiles, bounds: ReadBounds<'_>) -> &Symtab {
        self.table.get_or_init(|| read(found, bounds))
    }

    /// Returns the table, which the first call reads. It is empty if there is no room for it.
    pub(crate) fn get(&self, found: &DsoFiles) -> &Symtab {
        self.table.get_or_init(|| {
            // Whoever asks may be cancelled, and others get the same table.
            let finder = self.finder.with_cancellation(&Cancellation::default());
            let table = read(found, finder.bounds());
            let reserved = self.reserved.get_or_init(|| finder.reserve(table.size()));
            if reserved.is_ok() { table } else { Symtab::default() }
        })
    }

    /// Returns the number of bytes of the table, if it was read.
    pub(crate) fn size_of_loaded(&self) -> usize {
        self.table.get().map_or(0, Symtab::size)
    }

    /// Returns why the table was not kept when it was read late.
    pub(crate) fn why(&self) -> Option<NoSymbols> {
        self.reserved.get()?.as_ref().err().copied()
    }
}

fn read(found: &DsoFiles, bounds: ReadBounds<'_>) -> Symtab {
    let symbols: Vec<_> = [
        (&found.debug, NameSource::Symtab),
        (&found.image, NameSource::Symtab),
        (&found.mini, NameSource::MiniDebugInfo),
    ]
    .into_iter()
    .filter_map(|(image, source)| Some((image.as_deref()?, source)))
    .collect();
    elf_symbols::load(found.image.as_deref(), &symbols, bounds)
}
