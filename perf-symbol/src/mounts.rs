//! The file systems that are mounted on this machine.

use std::path::Path;

use crate::files::Files;

/// The largest list of mounts that is read, in bytes.
const LIMIT: u64 = 16 << 20;

/// Types of file systems without a device that programs may be on, and that are not those of containers.
const TYPES: [&[u8]; 12] = [
    b"btrfs",
    b"tmpfs",
    b"ramfs",
    b"rootfs",
    b"zfs",
    b"nfs",
    b"nfs4",
    b"cifs",
    b"9p",
    b"virtiofs",
    b"ubifs",
    b"bcachefs",
];

/// Returns the minor numbers of the file systems without a device that are mounted, and that are not those of containers, such as
/// btrfs and tmpfs; empty if the mounts cannot be read.
///
/// Kernel: `show_mountinfo`, `fs/proc_namespace.c`.
pub(crate) fn without_device(files: &dyn Files) -> Vec<u32> {
    let text = files.read_kernel(Path::new("/proc/self/mountinfo"), LIMIT);
    text.map(|text| text.split(|&byte| byte == b'\n').filter_map(minor_of).collect()).unwrap_or_default()
}

/// Parses `ID PARENT MAJ:MIN ROOT PLACE OPTIONS [FIELDS] - TYPE SOURCE OPTIONS`.
fn minor_of(line: &[u8]) -> Option<u32> {
    let mut fields = line.split(|&byte| byte == b' ');
    let minor = std::str::from_utf8(fields.nth(2)?).ok()?.strip_prefix("0:")?.parse().ok()?;
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    TYPES.contains(&kind).then_some(minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mounts() {
        let at = |line: &str| minor_of(line.as_bytes());
        assert_eq!(at("22 1 0:29 /root / rw,relatime shared:1 - btrfs /dev/sda2 rw"), Some(29));
        assert_eq!(at("25 22 0:31 / /tmp rw - tmpfs tmpfs rw"), Some(31));
        // One of a container, one with a device, and what is no mount.
        assert_eq!(at("90 22 0:52 / /x rw - overlay overlay rw"), None);
        assert_eq!(at("22 1 8:2 / / rw - ext4 /dev/sda2 rw"), None);
        assert_eq!(at("22 1 0:29 / / rw"), None);
        assert_eq!(at(""), None);
    }
}
