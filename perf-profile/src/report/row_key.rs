//! The identity of a row.

use crate::table::frames::NONE;

/// An address, as far as rows are grouped by it. What no key needs is [`NONE`] or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RowAddress {
    /// The number of the short name.
    pub(super) dso: u32,
    pub(super) symbol: u32,
    /// Number of bytes of the symbol; `None` if there is no symbol.
    pub(super) size: Option<u64>,
    /// The offset in the file, if there is no symbol.
    pub(super) offset: u64,
    /// The numbers of the texts of the source line and of the source file.
    pub(super) srcline: u32,
    pub(super) srcfile: u32,
    /// The frame, for keys of addresses.
    pub(super) frame: u32,
}

pub(super) const NOWHERE: RowAddress =
    RowAddress { dso: NONE, symbol: NONE, size: None, offset: 0, srcline: NONE, srcfile: NONE, frame: NONE };

/// The identity of a row: what its samples share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RowKey {
    pub(super) facts: u32,
    /// Of the function, or of the target of the branch.
    pub(super) address: RowAddress,
    /// What the branch left.
    pub(super) from: RowAddress,
    /// The address in memory.
    pub(super) ip: u64,
    /// Number of bytes of the mapping; 0 where nothing is mapped.
    pub(super) mapped: u64,
    /// The number of the short name of what is mapped where the data is.
    pub(super) data: u32,
    /// The symbol of the parent.
    pub(super) parent: u32,
}

/// The part of a row's identity in which the rows of one sample differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RowSpot {
    pub(super) address: RowAddress,
    pub(super) ip: u64,
    pub(super) mapped: u64,
}

impl RowKey {
    pub(super) fn spot(&self) -> RowSpot {
        let Self { address, ip, mapped, .. } = *self;
        RowSpot { address, ip, mapped }
    }

    pub(super) fn at(self, spot: RowSpot) -> Self {
        let RowSpot { address, ip, mapped } = spot;
        Self { address, ip, mapped, ..self }
    }

    /// Returns what all rows of a sample share.
    pub(super) fn without_spot(self) -> Self {
        self.at(RowSpot { address: NOWHERE, ip: 0, mapped: 0 })
    }
}
