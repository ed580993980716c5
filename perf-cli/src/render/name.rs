//! The names of fields, prepared for each output format at compile time.

/// A hash that represents a name in comparisons. Two selected names have the same key only if they are equal, or were
/// constructed to collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(u64);

impl Key {
    pub(crate) const fn of(name: &[u8]) -> Self {
        // FNV-1a.
        let (mut hash, mut index) = (0xcbf2_9ce4_8422_2325_u64, 0);
        while index < name.len() {
            hash = (hash ^ name[index] as u64).wrapping_mul(0x0100_0000_01b3);
            index += 1;
        }
        Self(hash)
    }

    /// Returns one bit of 64, which depends on the name. A set of names is the union of their bits: a name whose bit is
    /// missing is not in the set.
    #[inline]
    pub(crate) const fn bit(self) -> u64 {
        1 << ((self.0 ^ self.0 >> 32) % 64)
    }
}

/// The name of a field. `name!` makes one from a literal at compile time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    pub(crate) text: &'static str,
    /// The text before the value in a JSON object, `,"ip":`, and on a line of text, ` ip=`. Empty for a name that is
    /// not a literal.
    member: &'static str,
    label: &'static str,
    pub(crate) key: Key,
}

/// Makes a field name from a literal.
macro_rules! name {
    ($text:literal) => {
        const { &$crate::render::name::Name::new($text, concat!(",\"", $text, "\":"), concat!(" ", $text, "=")) }
    };
}
pub(crate) use name;

impl Name {
    pub(crate) const fn new(text: &'static str, member: &'static str, label: &'static str) -> Self {
        Self { text, member, label, key: Key::of(text.as_bytes()) }
    }

    /// Returns a name from a table.
    pub(crate) const fn of(text: &'static str) -> Self {
        Self::new(text, "", "")
    }

    /// Returns the number of bytes that [`push_member`](Self::push_member) appends.
    pub(crate) fn member_len(&self) -> usize {
        ",\"\":".len() + self.text.len()
    }

    /// Appends the text before the value in a JSON object, for a member after the first.
    #[inline(always)]
    pub(crate) fn push_member(&self, out: &mut Vec<u8>) {
        if self.member.is_empty() {
            return [",\"", self.text, "\":"].iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        }
        out.extend_from_slice(self.member.as_bytes());
    }

    /// Appends the text before the value on a line.
    #[inline(always)]
    pub(crate) fn push_label(&self, out: &mut Vec<u8>) {
        if self.label.is_empty() {
            return [" ", self.text, "="].iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        }
        out.extend_from_slice(self.label.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_prints_as_a_name_out_of_a_table() {
        for name in [name!("sample_period"), &Name::of("sample_period")] {
            let mut out = Vec::new();
            name.push_member(&mut out);
            name.push_label(&mut out);
            assert_eq!(out, b",\"sample_period\": sample_period=");
            assert_eq!(name.key, Key::of(b"sample_period"));
        }
    }
}
