//! BPF programs and their types.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, U32, U64};
use zerocopy::{FromBytes, Immutable, Unaligned};
use zerocopy_derive::KnownLayout;

use super::FeatureSection;
use super::fields::{list, number};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::error::FileError;

impl<'a> FeatureSection<'a> {
    /// Decodes `BPF_PROG_INFO`: the BPF programs that were loaded.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn bpf_prog_info<O: Endian>(&self) -> Result<Vec<BpfProgInfo<'a, O>>, FileError> {
        self.whole(|at| list::<O, _>(at, "nr", size_of::<BpfProgram<O>>(), BpfProgInfo::parse))
    }

    /// Decodes `BPF_BTF`: the types of BPF programs.
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
    /// The kernel's id of the types: `btf_id`, which comes after the fields of [`BpfProgram`].
    pub id: u32,
    /// The types, beginning with the magic number 0xeb9f.
    pub bytes: &'a [u8],
}

/// The fields of a BPF program that every writer of the feature has.
///
/// Where C has a pointer, the field has an offset in [`BpfProgInfo::data`].
///
/// Kernel: `struct bpf_prog_info`, `include/uapi/linux/bpf.h`, up to `jited_func_lens`; since Linux 4.13, the last
/// since 4.18.
// Derives are named by their paths: zerocopy's own names are both traits and derives if another crate enables its
// derives.
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
    /// Type of the program, which is what it is attached to: `BPF_PROG_TYPE_*`. C: `type`.
    pub kind: U32<O>,
    /// The kernel's id of the program.
    pub id: U32<O>,
    /// A hash of the instructions.
    pub tag: [u8; 8],
    /// Size of the machine code in bytes.
    pub jited_prog_len: U32<O>,
    /// Size of the BPF code in bytes.
    pub xlated_prog_len: U32<O>,
    /// Offset of the machine code.
    pub jited_prog_insns: U64<O>,
    /// Offset of the BPF code.
    pub xlated_prog_insns: U64<O>,
    /// Time at which the program was loaded, in nanoseconds since boot.
    pub load_time: U64<O>,
    /// The user that loaded the program.
    pub created_by_uid: U32<O>,
    /// Number of maps that the program uses.
    pub nr_map_ids: U32<O>,
    /// Offset of the ids of the maps.
    pub map_ids: U64<O>,
    /// The name of the program, up to the first NUL.
    pub name: [u8; 16],
    /// The network interface that the program is offloaded to.
    pub ifindex: U32<O>,
    /// A bit-field: whether the program is compatible with the GPL.
    pub gpl_compatible: U32<O>,
    /// Device of the network namespace of `ifindex`.
    pub netns_dev: U64<O>,
    /// Inode of the network namespace of `ifindex`.
    pub netns_ino: U64<O>,
    /// Number of functions with addresses.
    pub nr_jited_ksyms: U32<O>,
    /// Number of functions with lengths.
    pub nr_jited_func_lens: U32<O>,
    /// Offset of the addresses of the functions.
    pub jited_ksyms: U64<O>,
    /// Offset of the lengths of the functions.
    pub jited_func_lens: U64<O>,
}

const _: () = {
    assert!(size_of::<BpfProgram<perf_abi::endian::NativeEndian>>() == 128);
};

/// A BPF program: the kernel's information about it, and its arrays. Borrows.
///
/// perf: `struct perf_bpil`, `tools/perf/util/bpf-utils.h`.
#[derive(Clone, Copy, Debug)]
pub struct BpfProgInfo<'a, O: Endian> {
    /// The fields that every writer has.
    pub program: &'a BpfProgram<O>,
    /// The whole `struct bpf_prog_info`, in the version of its writer.
    pub info: &'a [u8],
    /// The arrays that perf asked for, one bit each: `PERF_BPIL_*`.
    pub arrays: u64,
    /// The arrays, one after another, each padded to a multiple of 8 bytes.
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

    /// Returns the name of the program; empty if it has none.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        let name = &self.program.name;
        name.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// Returns the machine code. This and the other arrays are `None` if perf did not ask for them, or if the kernel
    /// did not provide them.
    ///
    /// The kernel withholds some arrays, such as addresses from users who may not see them. perf does not mark these;
    /// their offset is outside of the data.
    #[must_use]
    pub fn jited_prog_insns(&self) -> Option<&'a [u8]> {
        self.array(0, self.program.jited_prog_insns, self.program.jited_prog_len)
    }

    /// Returns the BPF code.
    #[must_use]
    pub fn xlated_prog_insns(&self) -> Option<&'a [u8]> {
        self.array(1, self.program.xlated_prog_insns, self.program.xlated_prog_len)
    }

    /// Returns the ids of the maps that the program uses.
    #[must_use]
    pub fn map_ids(&self) -> Option<&'a [U32<O>]> {
        self.array(2, self.program.map_ids, self.program.nr_map_ids)
    }

    /// Returns the addresses of the program's functions.
    #[must_use]
    pub fn jited_ksyms(&self) -> Option<&'a [U64<O>]> {
        self.array(3, self.program.jited_ksyms, self.program.nr_jited_ksyms)
    }

    /// Returns the size of the machine code of each of these functions in bytes.
    #[must_use]
    pub fn jited_func_lens(&self) -> Option<&'a [U32<O>]> {
        self.array(4, self.program.jited_func_lens, self.program.nr_jited_func_lens)
    }

    /// Returns the array of a bit of `arrays`, from its offset and number of elements.
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
