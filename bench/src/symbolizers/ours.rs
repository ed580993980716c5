//! perf-symbol.

use std::path::Path;

use perf_symbol::{Demangle, Function, SymbolOptions, Symbolizer};

use super::{BATCH, OnFunction, OpenedFile};
use crate::failure::Failure;

/// Looks up many addresses at once.
pub(super) struct FileSymbols {
    symbolizer: Symbolizer,
    path: Vec<u8>,
}

impl FileSymbols {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let mut options = SymbolOptions::default();
        options.demangle = Demangle::Never;
        let path = path.to_str().ok_or_else(|| Failure::of(path.display(), "is not UTF-8"))?;
        Ok(Self { symbolizer: Symbolizer::new(options), path: path.into() })
    }
}

impl OpenedFile for FileSymbols {
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure> {
        for (batch, addresses) in addresses.chunks(BATCH).enumerate() {
            let found = self.symbolizer.functions_of(&self.path, addresses)?;
            for (number, functions) in found.iter().enumerate() {
                show(batch * BATCH + number, functions, each);
            }
        }
        Ok(())
    }
}

/// Looks up one address after the other.
pub(super) struct SingleAddresses(FileSymbols);

impl SingleAddresses {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        FileSymbols::open(path).map(Self)
    }
}

impl OpenedFile for SingleAddresses {
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure> {
        for (number, &address) in addresses.iter().enumerate() {
            show(number, &self.0.symbolizer.functions_in(&self.0.path, address), each);
        }
        Ok(())
    }
}

fn show(number: usize, functions: &[Function], each: &mut OnFunction<'_>) {
    for function in functions {
        each(number, function.raw_name.as_deref().unwrap_or_default(), function.line.unwrap_or_default());
    }
}
