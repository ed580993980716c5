//! Names from a capture as text: escaped, so that they are safe to print.
//!
//! Unsafe characters may move the cursor of a terminal, change the order of the text, be invisible, or look different on
//! each terminal. They are Unicode's categories control, format, surrogate, private use and unassigned, the line and
//! paragraph separators, and the letters and marks that Unicode allows programs to render as nothing.

use core::fmt::{Display, Formatter, Result};
use core::ops::RangeInclusive;

use perf_abi::record::CpuMode;
use perf_symbol::Guess;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// `Default_Ignorable_Code_Point`, without the characters that [`is_safe`] rejects by category.
const INVISIBLE: [RangeInclusive<char>; 8] = [
    '\u{34f}'..='\u{34f}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{e0100}'..='\u{e01ef}',
];

/// Returns the name of whose code ran, for machines to read: `kernel`, `guest_user`, `unknown`.
#[must_use]
pub fn mode_name(mode: CpuMode) -> &'static str {
    match mode {
        CpuMode::KERNEL => "kernel",
        CpuMode::USER => "user",
        CpuMode::HYPERVISOR => "hypervisor",
        CpuMode::GUEST_KERNEL => "guest_kernel",
        CpuMode::GUEST_USER => "guest_user",
        _ => "unknown",
    }
}

/// Returns whether a character is safe to print on a terminal.
#[must_use]
pub fn is_safe(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    let separators = [GeneralCategory::LineSeparator, GeneralCategory::ParagraphSeparator];
    character.general_category_group() != GeneralCategoryGroup::Other
        && !separators.contains(&character.general_category())
        && !INVISIBLE.iter().any(|range| range.contains(&character))
}

/// Returns bytes as text if all are letters, digits, signs and blanks of ASCII, which most names are.
#[inline]
pub fn plain(bytes: &[u8]) -> Option<&str> {
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain { core::str::from_utf8(bytes).ok() } else { None }
}

/// Bytes as one line of text: unsafe characters are escaped, and bytes that are not UTF-8 print as `\xNN`.
#[derive(Clone, Copy, Debug)]
pub struct OneLine<'a>(pub &'a [u8]);

impl Display for OneLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match plain(self.0) {
            Some(text) => f.write_str(text),
            None => write_escaped(f, self.0, is_safe),
        }
    }
}

/// Writes bytes as text: characters that are not plain are escaped, and bytes that are not UTF-8 are written as `\xNN`.
///
/// # Errors
///
/// Those of `f`.
pub fn write_escaped(f: &mut Formatter<'_>, bytes: &[u8], is_plain: impl Fn(char) -> bool) -> Result {
    for chunk in bytes.utf8_chunks() {
        // Most parts of names are plain as a whole.
        let mut rest = chunk.valid();
        while let Some(place) = rest.find(|character| !is_plain(character)) {
            let (plain, escaped) = rest.split_at(place);
            f.write_str(plain)?;
            let mut characters = escaped.chars();
            characters.next().map_or(Ok(()), |first| write!(f, "{}", first.escape_default()))?;
            rest = characters.as_str();
        }
        f.write_str(rest)?;
        chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
    }
    Ok(())
}

/// Appends a name in the format of [`OneLine`].
#[inline]
pub fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    if plain(name).is_some() {
        out.extend_from_slice(name);
    } else {
        // Writing to memory cannot fail.
        let _ = std::io::Write::write_fmt(out, format_args!("{}", OneLine(name)));
    }
}

/// Escapes unsafe characters and ends of lines in the text from `start` on, in the format of [`OneLine`].
pub fn make_line_safe(out: &mut Vec<u8>, start: usize) {
    if out.get(start..).and_then(plain).is_none() {
        let text = out.split_off(start.min(out.len()));
        push_name(out, &text);
    }
}

/// Returns what follows a name that may be a guess.
pub fn mark_of_guess(guess: Option<Guess>) -> &'static [u8] {
    if guess.is_some() { Guess::MARK.as_bytes() } else { b"" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_marks_signs_and_spaces_are_safe() {
        // A combining acute accent after "e", a vowel sign of Devanagari, an emoji.
        for character in
            [' ', '~', '\u{a0}', '\u{e9}', '\u{301}', '\u{93f}', '\u{3000}', '\u{5b57}', '\u{1f600}']
        {
            assert!(is_safe(character), "{character:?}");
        }
    }

    #[test]
    fn each_kind_of_unsafe_character_is_found() {
        let unsafe_ones = [
            ("control", "\0\n\t\u{1b}\u{7f}\u{80}\u{9b}\u{9f}"),
            (
                "format",
                "\u{ad}\u{61c}\u{200b}\u{200d}\u{200e}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}\u{e0001}",
            ),
            ("private use", "\u{e000}\u{f8ff}\u{f0000}\u{10fffd}"),
            ("unassigned", "\u{378}\u{2065}\u{ffff}\u{e0fff}\u{10ffff}"),
            ("separators", "\u{2028}\u{2029}"),
            ("invisible", "\u{34f}\u{115f}\u{1160}\u{17b4}\u{180b}\u{3164}\u{fe00}\u{fe0f}\u{ffa0}\u{e01ef}"),
        ];
        for (what, characters) in unsafe_ones {
            for character in characters.chars() {
                assert!(!is_safe(character), "{what}: {character:?}");
            }
        }
    }
}
