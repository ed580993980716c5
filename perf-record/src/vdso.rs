//! The vDSO: the code that the kernel maps into each process.

use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::maps;

/// The kernel's name of the mapping.
pub(crate) const VDSO: &[u8] = b"[vdso]";
/// perf's name of the vDSO of 32-bit processes on a 64-bit machine.
pub(crate) const VDSO32: &[u8] = b"[vdso32]";
/// The maximum number of bytes of a vDSO. The kernel's have one to four pages.
const MAX: usize = 1 << 20;

/// Returns perf's name of the vDSO that is mapped at an address.
pub(crate) fn name_at(addr: u64) -> &'static [u8] {
    if is_of_32_bits(addr) { VDSO32 } else { VDSO }
}

/// Returns whether a vDSO at this address is that of a 32-bit process. A 64-bit kernel maps the other one far above.
fn is_of_32_bits(addr: u64) -> bool {
    cfg!(target_pointer_width = "64") && u32::try_from(addr).is_ok()
}

/// Returns the vDSO of this process. All 64-bit processes have the same one.
pub(crate) fn own() -> Option<Vec<u8>> {
    of_process(Path::new("/proc/self"), VDSO)
}

/// Returns the vDSO of the process with this folder in `/proc`, if it has the name.
pub(crate) fn of_process(folder: &Path, name: &[u8]) -> Option<Vec<u8>> {
    let mut place = None;
    let file = BufReader::new(File::open(folder.join("maps")).ok()?);
    let Ok(_) = maps::each(file, |mapping| {
        if mapping.name == VDSO && name_at(mapping.start) == name {
            place = Some((mapping.start, mapping.len));
        }
        Ok::<_, core::convert::Infallible>(())
    });
    let (start, len) = place?;
    let mut bytes = vec![0; usize::try_from(len).ok().filter(|&len| len <= MAX)?];
    File::open(folder.join("mem")).ok()?.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}

/// Returns the vDSO that the running kernel maps into 32-bit processes, as a 64-bit process of x86 sees it. `None` if the
/// kernel does not run 32-bit programs, and on other architectures.
///
/// No file of the kernel has it. So this starts a 32-bit program of 110 bytes, which does nothing, and copies the vDSO from its
/// memory. The program is in no folder.
///
/// perf: `perf-read-vdso32`, `tools/perf/perf-read-vdso.c`.
///
/// # Examples
///
/// ```
/// if let Some(vdso) = perf_record::vdso32() {
///     assert!(vdso.starts_with(b"\x7fELF"));
/// }
/// ```
#[must_use]
pub fn vdso32() -> Option<Vec<u8>> {
    #[cfg(target_arch = "x86_64")]
    return of_program(&program());
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Returns the vDSO of a program, which writes a byte and waits for the end of its input.
#[cfg(target_arch = "x86_64")]
fn of_program(program: &[u8]) -> Option<Vec<u8>> {
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::process::{Command, Stdio};

    use rustix::fs::{MemfdFlags, memfd_create};

    let mut file = File::from(memfd_create("vdso32", MemfdFlags::CLOEXEC).ok()?);
    file.write_all(program).ok()?;
    let mut command = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let command = command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // The kernel reports the exec before it has mapped anything.
    let runs = child.stdout.take().is_some_and(|mut output| output.read_exact(&mut [0]).is_ok());
    let folder = format!("/proc/{}", child.id());
    let vdso = if runs { of_process(Path::new(&folder), VDSO32) } else { None };
    // This closes its input first.
    child.wait().ok()?;
    vdso
}

/// Returns a static program for i386: `write(1, stack, 1)`, `read(0, stack, 1)`, `exit`.
#[cfg(target_arch = "x86_64")]
fn program() -> Vec<u8> {
    const CODE: [u8; 26] = [
        0x89, 0xe1, // mov ecx, esp
        0x6a, 0x01, 0x5a, // push 1; pop edx
        0x6a, 0x04, 0x58, // push 4; pop eax: write
        0x89, 0xd3, // mov ebx, edx
        0xcd, 0x80, // int 0x80
        0x6a, 0x03, 0x58, // push 3; pop eax: read
        0x31, 0xdb, // xor ebx, ebx
        0xcd, 0x80, // int 0x80
        0x6a, 0x01, 0x58, // push 1; pop eax: exit
        0x31, 0xdb, // xor ebx, ebx
        0xcd, 0x80, // int 0x80
    ];
    const HEADERS: u32 = 52 + 32;
    const BASE: u32 = 0x0804_8000;
    let size = HEADERS + CODE.len() as u32;
    let mut bytes = b"\x7fELF\x01\x01\x01".to_vec();
    bytes.resize(16, 0);
    // e_type EXEC and e_machine 386; e_version, e_entry, e_phoff, e_shoff, e_flags.
    for word in [3 << 16 | 2, 1, BASE + HEADERS, 52, 0, 0] {
        bytes.extend(u32::to_le_bytes(word));
    }
    // e_ehsize, e_phentsize, e_phnum, and no sections.
    for half in [52, 32, 1, 0, 0, 0] {
        bytes.extend(u16::to_le_bytes(half));
    }
    // p_type LOAD, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_flags R and X, p_align.
    for word in [1, 0, BASE, BASE, size, size, 5, 0x1000] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend(CODE);
    bytes
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::elf;

    #[test]
    fn vdsos_by_address() {
        assert_eq!(name_at(0xf7f8_7000), VDSO32);
        assert_eq!(name_at(0x7ffc_f7f8_7000), VDSO);
    }

    /// A kernel without 32-bit programs has none.
    #[test]
    fn the_vdso_of_32_bit_processes_is_another_one() {
        assert_eq!(program().len(), 110);
        let own = own().unwrap();
        assert!(of_process(Path::new("/proc/self"), VDSO32).is_none());
        if let Some(vdso) = vdso32() {
            assert_eq!(vdso.get(..5), Some(&b"\x7fELF\x01"[..]));
            assert!(elf::of_bytes(&vdso).is_some_and(|id| id.len() == 20 && Some(id) != elf::of_bytes(&own)));
        }
    }

    #[test]
    fn what_does_not_run_has_no_vdso() {
        assert!(of_program(b"no program").is_none());
    }

    #[test]
    fn a_program_that_has_ended_has_no_vdso() {
        assert!(of_process(Path::new("/nowhere"), VDSO).is_none());
    }
}
