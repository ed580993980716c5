//! The names of fields, made ready for every way of printing them where they are written down.

/// Places of names in the table of [`Columns`](super::columns::Columns): a power of two.
pub(crate) const SLOTS: usize = 64;

/// The name of a field. [`name!`](crate::render::name!) makes one of a literal when the program is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    pub(crate) text: &'static str,
    /// As it stands in front of its value in a JSON object, `,"ip":`, and on a line of text, ` ip=`. Empty for a name
    /// that is not a literal.
    member: &'static str,
    label: &'static str,
    /// Its place among [`SLOTS`].
    slot: usize,
}

/// A field's name of a literal.
macro_rules! name {
    ($text:literal) => {
        const { &$crate::render::name::Name::new($text, concat!(",\"", $text, "\":"), concat!(" ", $text, "=")) }
    };
}
pub(crate) use name;

impl Name {
    pub(crate) const fn new(text: &'static str, member: &'static str, label: &'static str) -> Self {
        Self { text, member, label, slot: slot(text.as_bytes()) }
    }

    /// A name out of a table.
    pub(crate) const fn of(text: &'static str) -> Self {
        Self::new(text, "", "")
    }

    /// Its place among [`SLOTS`].
    #[inline]
    pub(crate) const fn slot(&self) -> usize {
        self.slot
    }

    /// Appends it as it stands in front of its value in a JSON object, behind another member.
    #[inline]
    pub(crate) fn push_member(&self, out: &mut Vec<u8>) {
        if self.member.is_empty() {
            return [",\"", self.text, "\":"].iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        }
        out.extend_from_slice(self.member.as_bytes());
    }

    /// Appends it as it stands in front of its value on a line.
    #[inline]
    pub(crate) fn push_label(&self, out: &mut Vec<u8>) {
        if self.label.is_empty() {
            return [" ", self.text, "="].iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        }
        out.extend_from_slice(self.label.as_bytes());
    }
}

/// The place of a name among [`SLOTS`]: few of those that are asked for at once share one.
pub(crate) const fn slot(name: &[u8]) -> usize {
    // FNV-1a.
    let (mut hash, mut index) = (0x811c_9dc5_u32, 0);
    while index < name.len() {
        hash = (hash ^ name[index] as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    (hash ^ hash >> 16) as usize % SLOTS
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
            assert_eq!(name.slot(), slot(b"sample_period"));
        }
    }
}
