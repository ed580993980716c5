//! Pseudonyms: keyed hashes of names.

use core::fmt::{Debug, Formatter};
use core::hash::{BuildHasher, Hasher};
use std::hash::RandomState;

use sha2::{Digest, Sha256};

/// Number of hexadecimal digits of a name: 48 bits. Collisions are unlikely below ten million names.
const DIGITS: usize = 12;

/// Number of hexadecimal digits of the name of a thread, which has at most 15 bytes.
const COMM_DIGITS: usize = 10;

/// Paths of what is not a file: names of the kernel and of perf, which are not secret.
const PUBLIC: &[&[u8]] = &[
    b"//anon",
    b"//toolong",
    b"//enomem",
    b"/anon_hugepage",
    b"/dev/zero",
    b"[heap]",
    b"[kernel]",
    b"[sigpage]",
    b"[stack]",
    b"[uprobes]",
    b"[vdso]",
    b"[vdso32]",
    b"[vdsox32]",
    b"[vectors]",
    b"[vsyscall]",
    b"[vvar]",
    b"[vvar_vclock]",
];

/// Starts of such paths, whose rest are a number or the name of a symbol of the kernel.
const PUBLIC_STARTS: &[&[u8]] = &[b"[kernel.kallsyms]", b"[guest.kernel.kallsyms"];

/// Starts of paths that perf tells the kind of the mapping by. The rest becomes a pseudonym.
const MEANT: &[&[u8]] = &[b"/SYSV", b"/memfd:", b"[anon:", b"[anon_shmem:"];

/// What the kernel appends to the path of a file that is gone.
const DELETED: &[u8] = b" (deleted)";

/// Makes pseudonyms of names.
#[derive(Clone)]
pub(in crate::edit) struct Pseudonyms {
    key: [u8; 32],
}

impl Debug for Pseudonyms {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pseudonyms").finish_non_exhaustive()
    }
}

impl Pseudonyms {
    /// Returns those of a salt.
    pub(in crate::edit) fn of_salt(salt: &[u8]) -> Self {
        Self { key: Sha256::digest(salt).into() }
    }

    /// Returns those of a random key, whose 128 bits come from the system: the keys of the standard library's hash.
    pub(in crate::edit) fn random() -> Self {
        let state = RandomState::new();
        let mut key = Sha256::new();
        for number in 0..4_u64 {
            let mut hasher = state.build_hasher();
            hasher.write_u64(number);
            key.update(hasher.finish().to_le_bytes());
        }
        Self { key: key.finalize().into() }
    }

    fn hash(&self, kind: &str, name: &[u8]) -> [u8; 32] {
        Sha256::new_with_prefix(self.key)
            .chain_update(kind)
            .chain_update([0])
            .chain_update(name)
            .finalize()
            .into()
    }

    /// Returns a number for a name of a kind.
    pub(in crate::edit) fn number(&self, kind: &str, name: &[u8]) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.hash(kind, name);
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// Returns the first hexadecimal digits of the hash of a name of a kind.
    fn digits(&self, kind: &str, name: &[u8], digits: usize) -> Vec<u8> {
        let hash = self.hash(kind, name);
        let hex = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        hex.filter_map(|digit| char::from_digit(digit.into(), 16))
            .take(digits)
            .map(|digit| digit as u8)
            .collect()
    }

    /// Returns the name of a thread.
    pub(super) fn comm(&self, comm: &[u8]) -> Vec<u8> {
        if comm.is_empty() {
            Vec::new()
        } else {
            [&b"comm-"[..], &self.digits("comm", comm, COMM_DIGITS)].concat()
        }
    }

    /// Returns the name of a host.
    pub(super) fn host(&self, host: &[u8]) -> Vec<u8> {
        [&b"host-"[..], &self.digits("host", host, DIGITS)].concat()
    }

    /// Returns the name of a symbol.
    pub(super) fn symbol(&self, name: &[u8]) -> Vec<u8> {
        [&b"sym-"[..], &self.digits("symbol", name, DIGITS)].concat()
    }

    /// Returns the name of an event.
    pub(super) fn event(&self, name: &[u8]) -> Vec<u8> {
        [&b"event-"[..], &self.digits("event", name, DIGITS)].concat()
    }

    /// Returns a path, with a pseudonym for each folder and for the file. A path of what is not a file stays.
    pub(super) fn path(&self, path: &[u8]) -> Vec<u8> {
        if path.is_empty()
            || PUBLIC.contains(&path)
            || PUBLIC_STARTS.iter().any(|start| path.starts_with(start))
        {
            return path.to_vec();
        }
        let component = |name: &[u8]| {
            if name.is_empty() { Vec::new() } else { self.digits("path", name, DIGITS) }
        };
        let (path, end) = match path.strip_suffix(DELETED) {
            Some(path) => (path, DELETED),
            None => (path, &b""[..]),
        };
        let pseudonym = if let Some(start) = MEANT.iter().find(|start| path.starts_with(start)) {
            let rest = path.get(start.len()..).unwrap_or_default();
            let close: &[u8] = if start.starts_with(b"[") { b"]" } else { b"" };
            [start, &*component(rest), close].concat()
        } else if path.starts_with(b"[") {
            // A module of the kernel, among others.
            [b"[", &*component(path), b"]"].concat()
        } else {
            path.split(|&byte| byte == b'/').map(component).collect::<Vec<_>>().join(&b'/')
        };
        [&pseudonym, end].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_equal_pseudonyms() {
        let names = Pseudonyms::of_salt(b"salt");
        assert_eq!(names.comm(b"worker"), names.comm(b"worker"));
        assert_ne!(names.comm(b"worker"), names.comm(b"workers"));
        assert_ne!(names.comm(b"worker"), Pseudonyms::of_salt(b"pepper").comm(b"worker"));
        assert_ne!(Pseudonyms::random().comm(b"worker"), Pseudonyms::random().comm(b"worker"));
        assert!(names.comm(b"worker").len() <= 15);
        assert_eq!(names.comm(b""), b"");
        // Of different kinds, they tell nothing of each other.
        assert_ne!(names.symbol(b"x")[4..], names.event(b"x")[6..]);
    }

    #[test]
    fn paths_keep_their_folders_apart() {
        let names = Pseudonyms::of_salt(b"salt");
        let parts = |path: &[u8]| {
            names.path(path).split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let (first, second) = (parts(b"/opt/secret/libone.so"), parts(b"/opt/secret/libtwo.so"));
        assert_eq!((first.len(), &first[..3]), (4, &second[..3]));
        assert_ne!(first[3], second[3]);
        assert_eq!((first[0].len(), first[1].len()), (0, DIGITS));
    }

    #[test]
    fn what_is_no_file_stays() {
        let names = Pseudonyms::of_salt(b"salt");
        for path in
            ["", "//anon", "[vdso]", "[kernel.kallsyms]_text", "[guest.kernel.kallsyms.12]_text", "/dev/zero"]
        {
            assert_eq!(names.path(path.as_bytes()), path.as_bytes());
        }
        let text = |path: &str| String::from_utf8(names.path(path.as_bytes())).unwrap();
        assert!(text("/memfd:secret (deleted)").starts_with("/memfd:"));
        assert!(text("/memfd:secret (deleted)").ends_with(" (deleted)"));
        assert!(text("[anon:secret]").starts_with("[anon:") && text("[anon:secret]").ends_with(']'));
        assert_eq!(text("[secret_module]").len(), DIGITS + 2);
        for path in [
            "/memfd:secret (deleted)",
            "[anon:secret]",
            "[secret_module]",
            "/secret/x",
            "secret",
            "[heap]secret",
        ] {
            assert!(!text(path).contains("secret"), "{path}");
        }
    }
}
