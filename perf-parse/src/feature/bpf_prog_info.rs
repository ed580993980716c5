//! `BPF_PROG_INFO`: the BPF programs that were loaded.

use alloc::vec::Vec;

use perf_abi::endian::{BigEndian, ByteOrder as _, Endian, Endianness, LittleEndian};

use super::codec::{Fault, SectionField, entry, number, put_count, put_word};
use super::{Entries, FieldValue, Fields};
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::Error;

entry! {
    /// The fields of a BPF program that every writer of the section has.
    ///
    /// Where C has a pointer, the field has an offset in [`BpfProgInfo::data`].
    ///
    /// Kernel: `struct bpf_prog_info`, `include/uapi/linux/bpf.h`, up to `jited_func_lens`; since Linux 4.13, the last
    /// since 4.18.
    pub struct BpfProgram {
        /// Type of the program, which is what it is attached to: `BPF_PROG_TYPE_*`.
        pub kind as "type": u32,
        /// The kernel's id of the program.
        pub id: u32,
        /// A hash of the instructions.
        pub tag: [u8; 8],
        /// Size of the machine code in bytes.
        pub jited_prog_len: u32,
        /// Size of the BPF code in bytes.
        pub xlated_prog_len: u32,
        /// Offset of the machine code.
        pub jited_prog_insns: u64,
        /// Offset of the BPF code.
        pub xlated_prog_insns: u64,
        /// Time at which the program was loaded, in nanoseconds since boot.
        pub load_time: u64,
        /// The user that loaded the program.
        pub created_by_uid: u32,
        /// Number of maps that the program uses.
        pub nr_map_ids: u32,
        /// Offset of the ids of the maps.
        pub map_ids: u64,
        /// The name of the program, up to the first NUL.
        pub name: [u8; 16],
        /// The network interface that the program is offloaded to.
        pub ifindex: u32,
        /// A bit-field: whether the program is compatible with the GPL.
        pub gpl_compatible: u32,
        /// Device of the network namespace of `ifindex`.
        pub netns_dev: u64,
        /// Inode of the network namespace of `ifindex`.
        pub netns_ino: u64,
        /// Number of functions with addresses.
        pub nr_jited_ksyms: u32,
        /// Number of functions with lengths.
        pub nr_jited_func_lens: u32,
        /// Offset of the addresses of the functions.
        pub jited_ksyms: u64,
        /// Offset of the lengths of the functions.
        pub jited_func_lens: u64,
    }
}

/// Size of [`BpfProgram`] in a section.
const PROGRAM: usize = 128;

/// Places of further fields of `struct bpf_prog_info`: since Linux 4.18 and 5.0.
const BTF_ID: usize = 128;
const LINE_INFO: (usize, usize, usize) = (152, 148, 172);
const JITED_LINE_INFO: (usize, usize, usize) = (160, 168, 176);

/// A line of the source of a BPF program.
///
/// Kernel: `struct bpf_line_info`, `include/uapi/linux/bpf.h`; since Linux 5.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfLineInfo {
    /// Index of the BPF instruction.
    pub insn_off: u32,
    /// Offset of the path of the source in the strings of the program's BTF.
    pub file_name_off: u32,
    /// Offset of the text of the line in these strings.
    pub line_off: u32,
    /// The line in the upper 22 bits, the column in the lower 10.
    pub line_col: u32,
}

/// A BPF program: the kernel's information about it, and its arrays. Borrows.
///
/// perf: `struct perf_bpil`, `tools/perf/util/bpf-utils.h`; `write_bpf_prog_info`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfProgInfo<'a> {
    /// The fields that every writer has.
    pub program: BpfProgram,
    /// The whole `struct bpf_prog_info`, in the version of its writer.
    pub info: &'a [u8],
    /// The arrays that perf asked for, one bit each: `PERF_BPIL_*`.
    pub arrays: u64,
    /// The arrays, one after another, each padded to a multiple of 8 bytes.
    pub data: &'a [u8],
    /// The byte order of `info` and `data`.
    pub endianness: Endianness,
}

impl<'a> BpfProgInfo<'a> {
    /// Returns a program from its parts: a `struct bpf_prog_info` with offsets in `data` in place of addresses, and the
    /// arrays. Copies nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`](crate::ErrorKind::Truncated) if `info` is shorter than [`BpfProgram`].
    pub fn from_parts<O: Endian>(info: &'a [u8], arrays: u64, data: &'a [u8]) -> Result<Self, Error> {
        Ok(Self { program: program::<O>(info, 0)?, info, arrays, data, endianness: O::ENDIANNESS })
    }

    /// Returns the name of the program; empty if it has none.
    #[must_use]
    pub fn name(&self) -> ByteStr<'_> {
        ByteStr::new(self.program.name.split(|&byte| byte == 0).next().unwrap_or_default())
    }

    /// Returns the machine code. This and the other arrays are `None` if perf did not ask for them, or if the kernel
    /// did not provide them.
    ///
    /// The kernel withholds some arrays, such as addresses that the user may not see. perf does not mark such arrays;
    /// their offset is outside of the data.
    #[must_use]
    pub fn jited_prog_insns(&self) -> Option<&'a [u8]> {
        self.array::<1>(0, self.program.jited_prog_insns, self.program.jited_prog_len).map(|at| at.rest())
    }

    /// Returns the BPF code.
    #[must_use]
    pub fn xlated_prog_insns(&self) -> Option<&'a [u8]> {
        self.array::<1>(1, self.program.xlated_prog_insns, self.program.xlated_prog_len).map(|at| at.rest())
    }

    /// Returns the ids of the maps that the program uses.
    #[must_use]
    pub fn map_ids(&self) -> Option<Entries<'a, u32>> {
        self.numbers::<_, 4>(2, self.program.map_ids, self.program.nr_map_ids)
    }

    /// Returns the addresses of the program's functions.
    #[must_use]
    pub fn jited_ksyms(&self) -> Option<Entries<'a, u64>> {
        self.numbers::<_, 8>(3, self.program.jited_ksyms, self.program.nr_jited_ksyms)
    }

    /// Returns the size of the machine code of each of these functions in bytes.
    #[must_use]
    pub fn jited_func_lens(&self) -> Option<Entries<'a, u32>> {
        self.numbers::<_, 4>(4, self.program.jited_func_lens, self.program.nr_jited_func_lens)
    }

    /// Returns the kernel's id of the types that describe the program: that of a [`BpfBtf`](super::BpfBtf). `None` if it has none,
    /// and from kernels before 4.18.
    #[must_use]
    pub fn btf_id(&self) -> Option<u32> {
        self.info_u32(BTF_ID).filter(|&id| id != 0)
    }

    /// Returns the lines of the source, by the address of the machine code from which on each counts. In no order; empty if perf did
    /// not ask for them, and from kernels before 5.0.
    pub fn lines(&self) -> impl Iterator<Item = (u64, BpfLineInfo)> + use<'a> {
        self.line_arrays().into_iter().flat_map(|(addresses, lines)| addresses.zip(lines))
    }

    #[allow(clippy::type_complexity, reason = "two iterators")]
    fn line_arrays(
        &self,
    ) -> Option<(impl Iterator<Item = u64> + use<'a>, impl Iterator<Item = BpfLineInfo> + use<'a>)> {
        let endianness = self.endianness;
        let addresses = self.records(7, JITED_LINE_INFO, 8)?;
        let lines = self.records(6, LINE_INFO, 16)?;
        let word = move |bytes: &[u8], at: usize| {
            Some(Endianness::u32(endianness, *bytes.get(at..)?.first_chunk()?))
        };
        let address = move |bytes: &[u8]| Some(Endianness::u64(endianness, *bytes.first_chunk()?));
        let line = move |bytes: &[u8]| {
            let field = |number: usize| word(bytes, number.checked_mul(4)?);
            Some(BpfLineInfo {
                insn_off: field(0)?,
                file_name_off: field(1)?,
                line_off: field(2)?,
                line_col: field(3)?,
            })
        };
        Some((addresses.map_while(address), lines.map_while(line)))
    }

    /// Returns the records of an array with a size of its own, whose fields in `info` are at these places: its offset in `data`, its
    /// number of records, and their size, which is `least` or more.
    fn records(
        &self,
        bit: u32,
        (offset, nr, size): (usize, usize, usize),
        least: usize,
    ) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let size = usize::try_from(self.info_u32(size)?).ok().filter(|&size| size >= least)?;
        let nr = usize::try_from(self.info_u32(nr)?).ok()?;
        if self.arrays & (1 << bit) == 0 {
            return None;
        }
        let offset = Endianness::u64(self.endianness, *self.info.get(offset..)?.first_chunk()?);
        let from = self.data.get(usize::try_from(offset).ok()?..)?;
        Some(from.get(..nr.checked_mul(size)?)?.chunks_exact(size))
    }

    fn info_u32(&self, at: usize) -> Option<u32> {
        Some(Endianness::u32(self.endianness, *self.info.get(at..)?.first_chunk()?))
    }

    /// Returns the array of a bit of `arrays`, from its offset and its number of elements of `N` bytes.
    fn array<const N: usize>(&self, bit: u32, offset: u64, nr: u32) -> Option<Cursor<'a>> {
        if self.arrays & (1 << bit) == 0 {
            return None;
        }
        let from = self.data.get(usize::try_from(offset).ok()?..)?;
        let size = usize::try_from(nr).ok()?.checked_mul(N)?;
        Some(Cursor::new(from.get(..size)?, 0))
    }

    fn numbers<T, const N: usize>(&self, bit: u32, offset: u64, nr: u32) -> Option<Entries<'a, T>> {
        let mut at = self.array::<N>(bit, offset, nr)?;
        let array = match self.endianness {
            Endianness::Little => Entries::array::<LittleEndian, N>(&mut at, nr.into(), ""),
            Endianness::Big => Entries::array::<BigEndian, N>(&mut at, nr.into(), ""),
        };
        array.ok()
    }
}

impl<'a> SectionField<'a> for BpfProgInfo<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, _: u32) -> Result<Self, Error> {
        let info_len = number::<O>(at, "info_len")?;
        let data_len = number::<O>(at, "data_len")?;
        let arrays = at.word::<O>("arrays")?;
        let offset = at.offset();
        let info = at.bytes(u64::from(info_len), "info")?;
        let program = program::<O>(info, offset)?;
        let data = at.bytes(u64::from(data_len), "data")?;
        Ok(Self { program, info, arrays, data, endianness: O::ENDIANNESS })
    }

    /// Writes `info`, which includes `program`.
    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        if self.endianness != O::ENDIANNESS {
            return Err(("endianness", "that of the capture"));
        }
        if program::<O>(self.info, 0) != Ok(self.program) {
            return Err(("info", "the bytes of program, and of the fields of newer kernels"));
        }
        put_count::<O>(out, self.info.len(), "info")?;
        put_count::<O>(out, self.data.len(), "data")?;
        put_word::<O>(out, self.arrays);
        out.extend_from_slice(self.info);
        out.extend_from_slice(self.data);
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

/// Decodes the fields that every writer has. `offset` is that of `info`.
fn program<O: Endian>(info: &[u8], offset: u32) -> Result<BpfProgram, Error> {
    // A shorter structure is truncated as a whole.
    Cursor::new(info, offset).bytes(PROGRAM as u64, "info")?;
    BpfProgram::take::<O>(&mut Cursor::new(info, offset), "", 0)
}

impl Fields for BpfProgInfo<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        let program = &self.program;
        to("type", program.kind.value());
        to("id", program.id.value());
        to("tag", program.tag.value());
        to("name", FieldValue::Text(self.name()));
        to("load_time", program.load_time.value());
        to("created_by_uid", program.created_by_uid.value());
        to("jited_prog_len", program.jited_prog_len.value());
        to("xlated_prog_len", program.xlated_prog_len.value());
        to("arrays", self.arrays.value());
        to("info", FieldValue::Bytes(self.info));
        to("data", FieldValue::Bytes(self.data));
        self.map_ids().iter().for_each(|all| to("map_ids", all.value()));
        self.jited_ksyms().iter().for_each(|all| to("jited_ksyms", all.value()));
        self.jited_func_lens().iter().for_each(|all| to("jited_func_lens", all.value()));
    }
}
