//! Kinds of mappings that are looked for among all.

use crate::dso::{Dso, DsoKind};

/// A set of kinds of mappings that are looked for among all. A node of a tree has those of the mappings in it, so that a
/// process with many mappings is not searched for each sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MapMark(u8);

impl MapMark {
    /// The text of the kernel.
    pub(crate) const KERNEL: Self = Self(1);
    /// `jit-PID.dump`.
    pub(crate) const JITDUMP: Self = Self(2);

    /// Returns the marks of a mapping.
    #[inline]
    pub(crate) fn of(dso: &Dso) -> Self {
        match dso.kind() {
            DsoKind::Kernel => Self::KERNEL,
            DsoKind::File | DsoKind::Memory if is_jitdump(dso.path()) => Self::JITDUMP,
            _ => Self::default(),
        }
    }

    pub(crate) fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Self> for MapMark {
    fn from_iter<I: IntoIterator<Item = Self>>(marks: I) -> Self {
        marks.into_iter().fold(Self::default(), Self::and)
    }
}

/// perf: `jit_detect`, `tools/perf/util/jitdump.c`.
fn is_jitdump(path: &[u8]) -> bool {
    // Most paths end otherwise: this is asked for each change of a tree.
    path.ends_with(b".dump")
        && path.rsplit(|&byte| byte == b'/').next().is_some_and(|it| it.starts_with(b"jit-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitdumps() {
        for (path, expected) in [
            ("/tmp/jit-12.dump", true),
            ("jit-.dump", true),
            ("/jit-1/x.dump", false),
            ("/tmp/jit-1.dump2", false),
            ("/tmp/xjit-1.dump", false),
        ] {
            assert_eq!(is_jitdump(path.as_bytes()), expected, "{path}");
        }
    }
}
