//! The generation of an inode, which MMAP2 records have.

use std::fs::File;
use std::io;

use crate::sys::inode;

/// Returns the generation of a file's inode, to compare it with that of an MMAP2 record: file systems that reuse the number of
/// an inode change its generation.
///
/// The kernel records it for the mappings of running programs. Those that were there before have 0 instead, as `/proc` does
/// not show it.
///
/// # Errors
///
/// [`InvalidInput`](io::ErrorKind::InvalidInput) for what is no regular file; the errno of `FS_IOC_GETVERSION`, such as
/// `ENOTTY` on file systems that have no generations: ext4, xfs, btrfs and f2fs have them, tmpfs, overlayfs and NFS have not.
///
/// # Examples
///
/// ```no_run
/// let file = std::fs::File::open("/bin/sh")?;
/// println!("{}", perf_open::inode_generation(&file)?);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn inode_generation(file: &File) -> io::Result<u32> {
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    inode::generation(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_regular_file() {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        match inode_generation(&file) {
            Ok(generation) => assert_eq!(inode_generation(&file).unwrap(), generation),
            // The file system has none.
            Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
        }
    }

    #[test]
    fn a_folder_has_none() {
        let error = inode_generation(&File::open("/").unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
