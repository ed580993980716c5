//! The crate blazesym.

use std::path::{Path, PathBuf};

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{CodeInfo, Input, Symbolized, Symbolizer};

use super::{BATCH, OnFunction, OpenedFile};
use crate::failure::Failure;

pub(super) struct ElfSource {
    symbolizer: Symbolizer,
    path: PathBuf,
}

impl ElfSource {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let builder = Symbolizer::builder().enable_code_info(true).enable_inlined_fns(true);
        Ok(Self { symbolizer: builder.enable_auto_reload(false).build(), path: path.into() })
    }
}

impl OpenedFile for ElfSource {
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure> {
        let source = Source::Elf(Elf::new(&self.path));
        let line = |code: Option<&CodeInfo<'_>>| code.and_then(|code| code.line).unwrap_or_default();
        for (batch, addresses) in addresses.chunks(BATCH).enumerate() {
            let found = self.symbolizer.symbolize(&source, Input::VirtOffset(addresses))?;
            for (number, found) in found.iter().enumerate() {
                let number = batch * BATCH + number;
                let Symbolized::Sym(symbol) = found else { continue };
                for inlined in symbol.inlined.iter().rev() {
                    each(number, inlined.name.as_bytes(), line(inlined.code_info.as_ref()));
                }
                each(number, symbol.name.as_bytes(), line(symbol.code_info.as_deref()));
            }
        }
        Ok(())
    }
}
