//! The two layouts of MMAP2, and which of them a record has.

#[cfg(feature = "alloc")]
use perf_abi::endian::ByteOrder;
use perf_abi::endian::{Endian, U32};
use zerocopy::FromBytes;

use crate::layout::Mmap2Layout;
use crate::sample::Reading;

/// The highest value in the place of the protection that a known writer stores: `perf inject --jit` stores the mode of the
/// file there, which has 16 bits.
const MAX_PROT: u32 = 0xffff;

impl Mmap2Layout {
    /// Returns whether the bytes of an MMAP2 record may fit both layouts. Looks at one of them.
    #[cfg(feature = "alloc")]
    pub(crate) fn may_fit_both<O: ByteOrder>(raw: &crate::raw::RawRecord<'_, O>) -> bool {
        use perf_abi::endian::LittleEndian;
        use perf_abi::record::{Misc, Mmap2Inode, RawMmap};

        const REST: usize = size_of::<RawMmap<LittleEndian>>() + size_of::<Mmap2Inode<LittleEndian>>();
        !raw.misc().contains(Misc::MMAP_BUILD_ID) && raw.payload().get(REST..).is_some_and(begins_path)
    }

    /// Returns the layout of a record whose identity of the file is followed by `rest`, without the trailer. `others` is the
    /// layout of the other records of the capture, if it is known.
    ///
    /// A path in the place of the protection proves the old layout, and everything else the current one. A path of 8
    /// bytes or more may be a protection, flags and a path too.
    pub(crate) fn choose<O: Endian>(rest: &[u8], others: Option<Self>) -> (Self, Reading) {
        let after_flags = rest.get(8..).unwrap_or_default();
        // So it is in nearly all records: a protection begins with another byte than a path.
        if !begins_path(rest) {
            let layout = if after_flags.is_empty() { Self::Old } else { Self::Current };
            return (layout, Reading::Certain);
        }
        let fits = match (is_padded(after_flags), is_padded(rest)) {
            // Other bytes than zeros follow the path, or it has no NUL.
            (false, false) => {
                let has_path = after_flags.contains(&0);
                let is_text = rest.iter().take(8).all(|&byte| byte != 0);
                (has_path, is_text || !has_path)
            }
            fits => fits,
        };
        match fits {
            (true, true) => match others.unwrap_or_else(|| Self::likelier::<O>(rest)) {
                Self::Current => (Self::Current, Reading::Usual),
                Self::Old => (Self::Old, Reading::Other),
            },
            (false, is_old) if is_old || after_flags.is_empty() => (Self::Old, Reading::Certain),
            _ => (Self::Current, Reading::Certain),
        }
    }

    /// Returns the likelier layout of a record that fits both.
    fn likelier<O: Endian>(rest: &[u8]) -> Self {
        let prot = U32::<O>::read_from_prefix(rest).map_or(0, |(prot, _)| prot.get());
        let begins_as_path = matches!(rest.first(), Some(b'/' | b'['));
        if begins_as_path || prot > MAX_PROT { Self::Old } else { Self::Current }
    }
}

/// Returns whether `bytes` are a string, its NUL, and zeros.
fn is_padded(bytes: &[u8]) -> bool {
    let mut after = bytes.iter().skip_while(|&&byte| byte != 0);
    after.next().is_some() && after.all(|&byte| byte == 0)
}

/// Returns whether a path may begin with the first byte. The kernel's names begin with `/`, `[` or a letter.
fn begins_path(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|&byte| byte > b' ' && byte != 0x7f)
}
