//! The BPF programs that the kernel has loaded: their functions, machine code, lines and types.
//!
//! perf records them as KSYMBOL and BPF_EVENT records and in the features `BPF_PROG_INFO` and `BPF_BTF`, so that samples
//! in BPF programs have names and can be annotated.
//!
//! # Examples
//!
//! ```
//! use perf_open::bpf;
//!
//! for id in bpf::programs() {
//!     match id.and_then(bpf::LoadedProgram::read) {
//!         Ok(program) => println!("{}: {} functions", program.id(), program.functions().count()),
//!         // Without CAP_SYS_ADMIN, EPERM. A program may also be unloaded at any moment.
//!         Err(error) => println!("{error}"),
//!     }
//! }
//! ```

use perf_abi::endian::NativeEndian;
use perf_parse::feature::BpfProgInfo;

use crate::error::Error;
use crate::sys::bpf::{self as sys, ARRAYS, ElementSize};

/// The arrays that perf asks for, as bits of [`ARRAYS`]: the machine code, the addresses and sizes of its functions,
/// their types, the lines of both codes, and the tags.
///
/// perf: `perf_event__synthesize_one_bpf_prog`, `tools/perf/util/bpf-event.c`.
const WANTED: u64 = 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8;
/// The bits of [`ARRAYS`] that each function has an element of, except for its type.
const KSYMS: u32 = 3;
const FUNC_LENS: u32 = 4;
const FUNC_INFO: u32 = 5;
const TAGS: u32 = 8;

/// Offset of `id` in `struct bpf_prog_info`.
const ID: usize = 4;
/// Offset of `btf_id`.
const BTF_ID: usize = 128;
/// Offset of `func_info_rec_size`.
const FUNC_INFO_SIZE: usize = 132;

/// The maximum number of bytes of the arrays of a program. The kernel accepts programs of a million instructions.
const MAX_DATA: usize = 256 << 20;
/// The maximum number of bytes of types. Kernel: `BTF_MAX_SIZE`, 16 MiB.
const MAX_BTF: u32 = 64 << 20;

fn failed(error: std::io::Error) -> Error {
    let advice = match error.raw_os_error() {
        Some(libc::EPERM) => "reading BPF programs needs CAP_SYS_ADMIN",
        Some(libc::EINVAL) => "the kernel may be older than Linux 4.13",
        _ => "",
    };
    Error::failed("bpf", error, advice)
}

/// Returns the ids of the loaded programs, in ascending order.
///
/// Each step is one system call. An error ends the iteration: `EPERM` without `CAP_SYS_ADMIN`, `EINVAL` before Linux
/// 4.13, `ENOSYS` if the kernel has no BPF.
///
/// Kernel: `BPF_PROG_GET_NEXT_ID`, `include/uapi/linux/bpf.h`.
pub fn programs() -> impl Iterator<Item = Result<u32, Error>> {
    let mut last = Some(0);
    core::iter::from_fn(move || match sys::next_program(last?) {
        Ok(id) => {
            last = Some(id);
            Some(Ok(id))
        }
        Err(error) => {
            last = None;
            (error.raw_os_error() != Some(libc::ENOENT)).then(|| Err(failed(error)))
        }
    })
}

/// A function of a [`LoadedProgram`] in machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BpfFunction {
    /// The address.
    pub addr: u64,
    /// The size in bytes.
    pub len: u32,
    /// A hash of its instructions.
    pub tag: [u8; 8],
    /// The type in the [types] of the program; `None` if the program has no types.
    pub type_id: Option<u32>,
}

/// The kernel's information about a BPF program.
///
/// Kernel: `struct bpf_prog_info`, `include/uapi/linux/bpf.h`; since Linux 4.13.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedProgram {
    /// The structure, with offsets in `data` in place of addresses.
    info: Box<[u8]>,
    /// The arrays in `data`, as bits of [`ARRAYS`].
    arrays: u64,
    data: Vec<u8>,
}

impl LoadedProgram {
    /// Reads a program, with the arrays that perf records. Three system calls.
    ///
    /// Arrays that the kernel does not know or withholds are left out.
    ///
    /// # Errors
    ///
    /// `ENOENT` if there is no such program; `EPERM` without `CAP_SYS_ADMIN`.
    pub fn read(id: u32) -> Result<Self, Error> {
        let program = sys::ProgramHandle::open(id).map_err(failed)?;
        let (sizes, known) = program.info(&mut []).map_err(failed)?;
        let mut lens = Vec::new();
        for (index, array) in ARRAYS.iter().enumerate() {
            let size = match array.element {
                ElementSize::Bytes(size) => size,
                ElementSize::At(at) => number(&sizes, at) as usize,
            };
            let is_known = array.address.max(array.count) + 8 <= known;
            if WANTED & 1 << index != 0 && is_known {
                let len = size.saturating_mul(number(&sizes, array.count) as usize);
                lens.push((index, size, len));
            }
        }
        let padded = |len: usize| len.checked_next_multiple_of(8).unwrap_or(MAX_DATA);
        let total = lens.iter().fold(0_usize, |sum, (_, _, len)| sum.saturating_add(padded(*len)));
        if total > MAX_DATA {
            return Err(Error::refused("bpf", "info", format!("the program has {total} bytes of arrays")));
        }
        let mut data = vec![0; total];
        let mut rest = data.as_mut_slice();
        let mut rooms = Vec::new();
        for &(index, size, len) in &lens {
            let (room, after) = rest.split_at_mut(padded(len));
            // Without the padding, which may have space for another element.
            rooms.push((index, size, &mut room[..len]));
            rest = after;
        }
        let (mut info, _) = program.info(&mut rooms).map_err(failed)?;
        let (mut offset, mut arrays) = (0, 0);
        for (index, _, len) in lens {
            let at = ARRAYS[index].address;
            let is_withheld = info[at..at + 8] == [0; 8];
            if !is_withheld {
                arrays |= 1 << index;
                info[at..at + 8].copy_from_slice(&(offset as u64).to_ne_bytes());
            }
            offset += padded(len);
        }
        Ok(Self { info: Box::new(info), arrays, data })
    }

    /// Returns the kernel's id of the program.
    #[must_use]
    pub fn id(&self) -> u32 {
        number(&self.info, ID)
    }

    /// Returns the id of the program's [`types`]; `None` if it has none, and before Linux 5.0.
    #[must_use]
    pub fn btf_id(&self) -> Option<u32> {
        Some(number(&self.info, BTF_ID)).filter(|&id| id != 0)
    }

    /// Returns the functions of the program; none if it has no machine code, or if the kernel hides the addresses.
    pub fn functions(&self) -> impl Iterator<Item = BpfFunction> {
        let type_size = number(&self.info, FUNC_INFO_SIZE) as usize;
        (0..).map_while(move |index| {
            let type_id = self.element(FUNC_INFO, type_size, index);
            Some(BpfFunction {
                addr: u64::from_ne_bytes(*self.element(KSYMS, 8, index)?.first_chunk()?),
                len: u32::from_ne_bytes(*self.element(FUNC_LENS, 4, index)?.first_chunk()?),
                tag: *self.element(TAGS, 8, index)?.first_chunk()?,
                // `struct bpf_func_info`: `insn_off`, `type_id`.
                type_id: type_id.and_then(|it| Some(u32::from_ne_bytes(*it.get(4..)?.first_chunk()?))),
            })
        })
    }

    /// Returns the program as the feature `BPF_PROG_INFO` of a capture lists it. Copies nothing.
    ///
    /// perf: `write_bpf_prog_info`, `tools/perf/util/header.c`.
    #[must_use]
    pub fn as_feature(&self) -> Option<BpfProgInfo<'_>> {
        BpfProgInfo::from_parts::<NativeEndian>(&self.info, self.arrays, &self.data).ok()
    }

    /// Returns an element of an array; `None` if the array or the element is missing.
    fn element(&self, array: u32, size: usize, index: usize) -> Option<&[u8]> {
        let at = ARRAYS.get(array as usize)?;
        if self.arrays & 1 << array == 0 || index >= number(&self.info, at.count) as usize {
            return None;
        }
        let start = u64::from_ne_bytes(*self.info.get(at.address..)?.first_chunk()?);
        let start = usize::try_from(start).ok()?.checked_add(index.checked_mul(size)?)?;
        self.data.get(start..start.checked_add(size)?)
    }
}

/// Reads types in the BPF Type Format by their id, as the feature `BPF_BTF` of a capture has them. Three system calls.
///
/// Kernel: `BPF_BTF_GET_FD_BY_ID`, `include/uapi/linux/bpf.h`; since Linux 4.18.
///
/// # Errors
///
/// `ENOENT` if there are no such types; `EPERM` without `CAP_SYS_ADMIN`.
pub fn types(id: u32) -> Result<Vec<u8>, Error> {
    let btf = sys::Btf::open(id).map_err(failed)?;
    let size = btf.read(&mut []).map_err(failed)?;
    if size > MAX_BTF {
        return Err(Error::refused("bpf", "btf", format!("there are {size} bytes of types")));
    }
    let mut bytes = vec![0; size as usize];
    btf.read(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Returns the 32-bit number at an offset; 0 if there is none.
fn number(info: &[u8], at: usize) -> u32 {
    info.get(at..).and_then(|from| from.first_chunk()).map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}
