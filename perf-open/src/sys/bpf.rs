//! `bpf(2)`: the requests that read the BPF programs that the kernel has loaded.
//!
//! Programs and types have a type each, because the kernel interprets the same request by the kind of the descriptor.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Kernel: `enum bpf_cmd`, `include/uapi/linux/bpf.h`.
const PROG_GET_NEXT_ID: libc::c_long = 11;
const PROG_GET_FD_BY_ID: libc::c_long = 13;
const OBJ_GET_INFO_BY_FD: libc::c_long = 15;
const BTF_GET_FD_BY_ID: libc::c_long = 19;

/// Bytes of `struct bpf_prog_info` up to `attach_btf_id`; since Linux 5.16. Older kernels fill a part of it.
pub(crate) const PROG_INFO: usize = 232;
/// Bytes of `struct bpf_btf_info`; since Linux 5.11.
const BTF_INFO: usize = 32;

/// An array that the kernel writes for a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BpfArray {
    /// The offset of its address in `struct bpf_prog_info`.
    pub(crate) address: usize,
    /// The offset of its number of elements.
    pub(crate) count: usize,
    pub(crate) element: ElementSize,
}

/// The size of an element of an [`BpfArray`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum ElementSize {
    /// A number of bytes.
    Bytes(usize),
    /// The offset of the number in `struct bpf_prog_info`.
    At(usize),
}

/// The arrays in the order of perf's `PERF_BPIL_*`.
///
/// Kernel: `bpf_prog_get_info_by_fd`, `kernel/bpf/syscall.c`, which writes as many elements as there are, and not more
/// than were asked for.
pub(crate) const ARRAYS: [BpfArray; 9] = {
    use ElementSize::{At, Bytes};
    const fn array(address: usize, count: usize, element: ElementSize) -> BpfArray {
        BpfArray { address, count, element }
    }
    [
        // jited_prog_insns, xlated_prog_insns, map_ids, jited_ksyms, jited_func_lens
        array(24, 16, Bytes(1)),
        array(32, 20, Bytes(1)),
        array(56, 52, Bytes(4)),
        array(112, 104, Bytes(8)),
        array(120, 108, Bytes(4)),
        // func_info, line_info, jited_line_info, prog_tags
        array(136, 144, At(132)),
        array(152, 148, At(172)),
        array(160, 168, At(176)),
        array(184, 180, Bytes(8)),
    ]
};

/// Makes a request. `attr` is a `union bpf_attr`.
///
/// # Safety
///
/// The addresses in `attr` must be valid for everything that the kernel reads and writes there for `request`.
unsafe fn bpf(request: libc::c_long, attr: &mut [u32]) -> io::Result<libc::c_int> {
    let size = libc::c_long::try_from(size_of_val(attr)).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel reads and writes at most `size` bytes of `attr`, which outlives the call. The addresses in it
    // are valid, as the caller guarantees.
    let result = unsafe { libc::syscall(libc::SYS_bpf, request, attr.as_mut_ptr(), size) };
    match libc::c_int::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the lowest id of a program that is greater than `id`.
pub(crate) fn next_program(id: u32) -> io::Result<u32> {
    let mut attr = [id, 0, 0];
    // SAFETY: the attr has no address. It consists of `start_id`, `next_id` and `open_flags`.
    unsafe { bpf(PROG_GET_NEXT_ID, &mut attr) }?;
    Ok(attr[1])
}

fn open(request: libc::c_long, id: u32) -> io::Result<OwnedFd> {
    // SAFETY: the attr has no address. It consists of the id, `next_id` and `open_flags`.
    let fd = unsafe { bpf(request, &mut [id, 0, 0]) }?;
    // SAFETY: both requests return a new descriptor, which has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Reads the information about an object. Returns how many bytes of it the kernel knows.
///
/// # Safety
///
/// `info` must be the structure for the kind of the object, and the addresses in it valid for what the kernel writes
/// there.
unsafe fn info(fd: &OwnedFd, info: &mut [u8]) -> io::Result<usize> {
    let (Ok(fd), Ok(len)) = (u32::try_from(fd.as_raw_fd()), u32::try_from(info.len())) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let address = (info.as_mut_ptr().expose_provenance() as u64).to_ne_bytes();
    let [a, b, c, d, e, f, g, h] = address;
    let mut attr = [fd, len, u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])];
    // SAFETY: the kernel reads and writes at most `len` bytes at the address, which are those of `info`. The addresses
    // in `info` are valid, as the caller guarantees.
    unsafe { bpf(OBJ_GET_INFO_BY_FD, &mut attr) }?;
    Ok(usize::try_from(attr[1]).unwrap_or(usize::MAX).min(info.len()))
}

/// A loaded program.
#[derive(Debug)]
pub(crate) struct ProgramHandle(OwnedFd);

impl ProgramHandle {
    pub(crate) fn open(id: u32) -> io::Result<Self> {
        open(PROG_GET_FD_BY_ID, id).map(Self)
    }

    /// Reads `struct bpf_prog_info`, and the arrays for which `rooms` has room, by their indices in [`ARRAYS`] and the
    /// size of an element. Returns it with the number of bytes of it that the kernel knows. The addresses of arrays that
    /// the kernel withholds are 0.
    pub(crate) fn info(
        &self,
        rooms: &mut [(usize, usize, &mut [u8])],
    ) -> io::Result<([u8; PROG_INFO], usize)> {
        let mut bytes = [0; PROG_INFO];
        for (index, size, room) in rooms {
            let BpfArray { address, count, element } = ARRAYS[*index];
            let size = match element {
                ElementSize::Bytes(size) => size,
                // The kernel refuses a size that is not its own.
                ElementSize::At(at) => {
                    let given = u32::try_from(*size).map_err(|_| io::ErrorKind::InvalidInput)?;
                    bytes[at..at + 4].copy_from_slice(&given.to_ne_bytes());
                    *size
                }
            };
            // Elements that fit in the room.
            let elements = u32::try_from(room.len().checked_div(size).unwrap_or(0)).unwrap_or(u32::MAX);
            bytes[count..count + 4].copy_from_slice(&elements.to_ne_bytes());
            let start = room.as_mut_ptr().expose_provenance() as u64;
            bytes[address..address + 8].copy_from_slice(&start.to_ne_bytes());
        }
        // SAFETY: the descriptor is that of a program, because only `open` makes one. Every address in the structure is
        // that of a room, which is borrowed during the call and has space for the number of elements next to it. All
        // other numbers of elements are 0, so that the kernel writes no other array.
        let known = unsafe { info(&self.0, &mut bytes) }?;
        Ok((bytes, known))
    }
}

/// Loaded types, in the BPF Type Format.
#[derive(Debug)]
pub(crate) struct Btf(OwnedFd);

impl Btf {
    pub(crate) fn open(id: u32) -> io::Result<Self> {
        open(BTF_GET_FD_BY_ID, id).map(Self)
    }

    /// Reads the types into `room`, as many bytes as fit. Returns the size of the types.
    pub(crate) fn read(&self, room: &mut [u8]) -> io::Result<u32> {
        // `btf`, `btf_size`, `id`, `name`, `name_len`, `kernel_btf`.
        let mut bytes = [0; BTF_INFO];
        let size = u32::try_from(room.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        bytes[..8].copy_from_slice(&(room.as_mut_ptr().expose_provenance() as u64).to_ne_bytes());
        bytes[8..12].copy_from_slice(&size.to_ne_bytes());
        // SAFETY: the descriptor is that of types, because only `open` makes one. The kernel writes at most `size` bytes
        // at the address, which are those of `room`, and no name, because there is no room for one.
        unsafe { info(&self.0, &mut bytes) }?;
        Ok(u32::from_ne_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]))
    }
}
