//! The versions of the attr, and the fields that each added.

use super::{Attr, AuxAction};
use crate::branch::BranchSampleType;

codes! {
    /// A version of the attr, identified by its size in bytes.
    ///
    /// Some fields were added in reserved space, without a new size. [`AttrVersion::check`] therefore checks
    /// only which fields have room in a version, not which kernel supports them.
    ///
    /// Kernel: `PERF_ATTR_SIZE_VER*`.
    pub struct AttrVersion(u32) {
        /// Ends with the `bp_addr`/`config1` union. Since Linux 2.6.31.
        VER0 = 64, "PERF_ATTR_SIZE_VER0";
        /// Adds `bp_len`/`config2`. Since Linux 2.6.33, the name since Linux 2.6.39.
        VER1 = 72, "PERF_ATTR_SIZE_VER1";
        /// Adds `branch_sample_type`. Since Linux 3.4.
        VER2 = 80, "PERF_ATTR_SIZE_VER2";
        /// Adds `sample_regs_user`, `sample_stack_user`; `clockid` (4.1) in former padding. Since Linux 3.7.
        VER3 = 96, "PERF_ATTR_SIZE_VER3";
        /// Adds `sample_regs_intr`. Since Linux 3.19.
        VER4 = 104, "PERF_ATTR_SIZE_VER4";
        /// Adds `aux_watermark`; `sample_max_stack` (4.8) in former padding. Since Linux 4.1.
        VER5 = 112, "PERF_ATTR_SIZE_VER5";
        /// Adds `aux_sample_size`; `aux_action` (6.13) in former padding. Since Linux 5.5.
        VER6 = 120, "PERF_ATTR_SIZE_VER6";
        /// Adds `sig_data`. Since Linux 5.13.
        VER7 = 128, "PERF_ATTR_SIZE_VER7";
        /// Adds `config3`. Since Linux 6.3.
        VER8 = 136, "PERF_ATTR_SIZE_VER8";
        /// Adds `config4`. Since Linux 6.19.
        VER9 = 144, "PERF_ATTR_SIZE_VER9";
    }
}

/// The reason why an attr cannot be written in a version: the version lacks a field that is not zero, or this crate
/// does not know the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AttrWriteError {
    /// The kernel's name of the field; `size` for a version that this crate does not know.
    pub field: &'static str,
    /// The requested version.
    pub version: AttrVersion,
    /// The version that added the field; for `size`, the nearest version that this crate knows.
    pub needs: AttrVersion,
}

impl core::fmt::Display for AttrWriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { field, version: AttrVersion(size), needs: AttrVersion(needs) } = self;
        if *field == "size" {
            let (oldest, newest) = (AttrVersion::VER0.size(), AttrVersion::NEWEST.size());
            return write!(f, "attr.size: is {size}, but must be {oldest} to {newest} bytes");
        }
        write!(f, "attr.{field}: is set, but needs an attr of at least {needs} bytes, not {size}")
    }
}

impl core::error::Error for AttrWriteError {}

impl AttrVersion {
    /// The newest version, which has every field of [`Attr`].
    pub const NEWEST: Self = Self::VER9;

    /// Every version, oldest first.
    pub const ALL: &'static [Self] = &[
        Self::VER0,
        Self::VER1,
        Self::VER2,
        Self::VER3,
        Self::VER4,
        Self::VER5,
        Self::VER6,
        Self::VER7,
        Self::VER8,
        Self::VER9,
    ];

    /// Returns the bytes of an attr of this version.
    #[must_use]
    pub const fn size(self) -> u32 {
        self.0
    }

    /// Checks that this crate knows this version, and that it has every field of `attr` that is not zero.
    ///
    /// # Errors
    ///
    /// [`AttrWriteError`] with the first field, in the order of the struct, that this version lacks; with `size` if this
    /// is less than [`VER0`](Self::VER0) or more than [`NEWEST`](Self::NEWEST).
    pub fn check(self, attr: &Attr) -> Result<(), AttrWriteError> {
        let needs = self.clamp(Self::VER0, Self::NEWEST);
        if needs != self {
            return Err(AttrWriteError { field: "size", version: self, needs });
        }
        let Attr { config2, branch_sample_type, sample_regs_user, sample_stack_user, .. } = *attr;
        let Attr { clockid, sample_regs_intr, aux_watermark, sample_max_stack, reserved_2, .. } = *attr;
        let Attr { aux_sample_size, aux_action, sig_data, config3, config4, .. } = *attr;
        let fields = [
            ("config2", Self::VER1, config2 != 0),
            ("branch_sample_type", Self::VER2, branch_sample_type != BranchSampleType::NONE),
            ("sample_regs_user", Self::VER3, sample_regs_user != 0),
            ("sample_stack_user", Self::VER3, sample_stack_user != 0),
            ("clockid", Self::VER3, clockid != 0),
            ("sample_regs_intr", Self::VER4, sample_regs_intr != 0),
            ("aux_watermark", Self::VER5, aux_watermark != 0),
            ("sample_max_stack", Self::VER5, sample_max_stack != 0),
            ("__reserved_2", Self::VER5, reserved_2 != 0),
            ("aux_sample_size", Self::VER6, aux_sample_size != 0),
            ("aux_action", Self::VER6, aux_action != AuxAction::NONE),
            ("sig_data", Self::VER7, sig_data != 0),
            ("config3", Self::VER8, config3 != 0),
            ("config4", Self::VER9, config4 != 0),
        ];
        match fields.into_iter().find(|&(_, needs, set)| set && needs > self) {
            Some((field, needs, _)) => Err(AttrWriteError { field, version: self, needs }),
            None => Ok(()),
        }
    }
}
