//! BPF programs and their types.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, U32, U64};
use zerocopy::{FromBytes, Immutable, Unaligned};
use zerocopy_derive::KnownLayout;

use super::FeatureSection;
use super::fields::{list, number};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::file::error::FileError;

impl<'a> FeatureSection<'a> {
    /// `BPF_PROG_INFO`: the BPF programs that were loaded.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn bpf_prog_info<O: Endian>(&self) -> Result<Vec<BpfProgInfo<'a, O>>, FileError> {
        self.whole(|at| list::<O, _>(at, "nr", size_of::<BpfProgram<O>>(), BpfProgInfo::parse))
    }

    /// `BPF_BTF`: the types of BPF programs.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn bpf_btf<O: Endian>(&self) -> Result<Vec<BpfBtf<'a>>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, "nr", 8, |at| {
                let id = number::<O>(at, "id")?;
                let size = number::<O>(at, "size")?;
                Ok(BpfBtf { id, bytes: at.bytes(u64::from(size), "btf")? })
            })
        })
    }
}

/// Types of BPF programs, in the BPF Type Format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfBtf<'a> {
    /// The kernel's id of them; what [`BpfProgram`] has behind its named fields as `btf_id`.
    pub id: u32,
    /// The types, from the magic number 0xeb9f on.
    pub bytes: &'a [u8],
}

/// The fields of a BPF program that every writer of the feature has.
///
/// Where C has a pointer it is here an offset in [`BpfProgInfo::data`].
///
/// Kernel: `struct bpf_prog_info`, `include/uapi/linux/bpf.h`, up to `jited_func_lens`; since Linux 4.13, the last since
/// 4.18.
// By their paths, as zerocopy's own names are traits and derives at once where something else asks for its derives.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    KnownLayout,
    zerocopy_derive::FromBytes,
    zerocopy_derive::Immutable,
    zerocopy_derive::Unaligned,
)]
#[repr(C)]
pub struct BpfProgram<O: Endian> {
    /// What the program is attached to: `BPF_PROG_TYPE_*`. C: `type`.
    pub kind: U32<O>,
    /// The kernel's id of it.
    pub id: U32<O>,
    /// A hash of its instructions.
    pub tag: [u8; 8],
    /// Bytes of machine code.
    pub jited_prog_len: U32<O>,
    /// Bytes of BPF code.
    pub xlated_prog_len: U32<O>,
    /// Where the machine code is.
    pub jited_prog_insns: U64<O>,
    /// Where the BPF code is.
    pub xlated_prog_insns: U64<O>,
    /// When it was loaded, in nanoseconds since boot.
    pub load_time: U64<O>,
    /// Who loaded it.
    pub created_by_uid: U32<O>,
    /// How many maps it uses.
    pub nr_map_ids: U32<O>,
    /// Where their ids are.
    pub map_ids: U64<O>,
    /// Its name, which ends at the first NUL.
    pub name: [u8; 16],
    /// The network interface that it is offloaded to.
    pub ifindex: U32<O>,
    /// A bit-field: whether it is compatible with the GPL.
    pub gpl_compatible: U32<O>,
    /// Device of the network namespace of `ifindex`.
    pub netns_dev: U64<O>,
    /// Inode of that namespace.
    pub netns_ino: U64<O>,
    /// How many functions have addresses.
    pub nr_jited_ksyms: U32<O>,
    /// How many functions have lengths.
    pub nr_jited_func_lens: U32<O>,
    /// Where the addresses of the functions are.
    pub jited_ksyms: U64<O>,
    /// Where the lengths of the functions are.
    pub jited_func_lens: U64<O>,
}

const _: () = {
    assert!(size_of::<BpfProgram<perf_abi::endian::NativeEndian>>() == 128);
};

/// A BPF program: what the kernel says of it, and its arrays. Borrows.
///
/// perf: `struct perf_bpil`, `tools/perf/util/bpf-utils.h`.
#[derive(Clone, Copy, Debug)]
pub struct BpfProgInfo<'a, O: Endian> {
    /// The fields that every writer has.
    pub program: &'a BpfProgram<O>,
    /// The whole `struct bpf_prog_info`, in the version of its writer.
    pub info: &'a [u8],
    /// Which arrays perf asked for: a bit each, `PERF_BPIL_*`.
    pub arrays: u64,
    /// The arrays, one behind the other, each filled up to a multiple of 8 bytes.
    pub data: &'a [u8],
}

impl<'a, O: Endian> BpfProgInfo<'a, O> {
    fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let info_len = number::<O>(at, "info_len")?;
        let data_len = number::<O>(at, "data_len")?;
        let arrays = at.word::<O>("arrays")?;
        let offset = at.offset();
        let info = at.bytes(u64::from(info_len), "info")?;
        let program = Cursor::new(info, offset).fixed("info")?;
        Ok(Self { program, info, arrays, data: at.bytes(u64::from(data_len), "data")? })
    }

    /// The name of the program; empty where it has none.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        let name = &self.program.name;
        name.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// The machine code. `None`, as for all arrays, where perf did not ask for it, or the kernel did not give it.
    ///
    /// perf leaves no mark where the kernel withheld an array, as it does addresses from who may not see them; its
    /// offset is then outside of the data.
    #[must_use]
    pub fn jited_prog_insns(&self) -> Option<&'a [u8]> {
        self.array(0, self.program.jited_prog_insns, self.program.jited_prog_len)
    }

    /// The BPF code.
    #[must_use]
    pub fn xlated_prog_insns(&self) -> Option<&'a [u8]> {
        self.array(1, self.program.xlated_prog_insns, self.program.xlated_prog_len)
    }

    /// The ids of the maps that the program uses.
    #[must_use]
    pub fn map_ids(&self) -> Option<&'a [U32<O>]> {
        self.array(2, self.program.map_ids, self.program.nr_map_ids)
    }

    /// The addresses of the functions that the program consists of.
    #[must_use]
    pub fn jited_ksyms(&self) -> Option<&'a [U64<O>]> {
        self.array(3, self.program.jited_ksyms, self.program.nr_jited_ksyms)
    }

    /// Bytes of machine code of each of these functions.
    #[must_use]
    pub fn jited_func_lens(&self) -> Option<&'a [U32<O>]> {
        self.array(4, self.program.jited_func_lens, self.program.nr_jited_func_lens)
    }

    /// The array of a bit of `arrays`, by its offset and number of elements.
    fn array<T: FromBytes + Immutable + Unaligned>(
        &self,
        bit: u32,
        offset: U64<O>,
        nr: U32<O>,
    ) -> Option<&'a [T]> {
        if self.arrays & (1 << bit) == 0 {
            return None;
        }
        let from = self.data.get(usize::try_from(offset.get()).ok()?..)?;
        let nr = usize::try_from(nr.get()).ok()?;
        <[T]>::ref_from_prefix_with_elems(from, nr).ok().map(|(array, _)| array)
    }
}
