//! The search for the entry of a module's unwind tables that covers an address.

use gimli::{DebugFrame, EhFrame, Vendor};

use super::fde::{Fde, Slice, fde_at, find};
use super::machine::UnwindMachine;
use super::module::Module;

/// The entry for an address and its section.
pub(crate) enum FdeLookup<'a> {
    Eh(EhFrame<Slice<'a>>, Fde<'a>),
    Debug(DebugFrame<Slice<'a>>, Fde<'a>),
}

impl Module {
    /// Returns the entry that covers an address of the file: that of `.eh_frame`, or else that of `.debug_frame`.
    pub(crate) fn fde(&self, address: u64) -> Option<FdeLookup<'_>> {
        self.eh_frame_fde(address).or_else(|| self.debug_frame_fde(address))
    }

    fn eh_frame_fde(&self, address: u64) -> Option<FdeLookup<'_>> {
        let section = self.eh_frame.as_ref()?;
        let mut frame = EhFrame::new(&section.bytes, self.gimli_order());
        frame.set_address_size(self.machine().address_size());
        if self.machine() == UnwindMachine::Aarch64 {
            frame.set_vendor(Vendor::AArch64);
        }
        let offset = match &self.header {
            Some(header) => header.find(self.data(), address)?,
            None => find(self.eh_frame_index(), address)?,
        };
        let fde = fde_at(&frame, &self.bases, offset.into(), address)?;
        Some(FdeLookup::Eh(frame, fde))
    }

    fn debug_frame_fde(&self, address: u64) -> Option<FdeLookup<'_>> {
        let section = self.debug_frame.as_ref()?;
        let mut frame = DebugFrame::new(&section.bytes, self.gimli_order());
        frame.set_address_size(self.machine().address_size());
        if self.machine() == UnwindMachine::Aarch64 {
            frame.set_vendor(Vendor::AArch64);
        }
        let offset = find(self.debug_frame_index(), address)?;
        let fde = fde_at(&frame, &self.bases, offset.into(), address)?;
        Some(FdeLookup::Debug(frame, fde))
    }
}
