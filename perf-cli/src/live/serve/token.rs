//! The word in the address of the page, which only those who were given it know.

use core::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

/// Returns a random word of 32 hexadecimal digits.
///
/// # Errors
///
/// If the kernel gives no random bytes.
pub(super) fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut word, byte| {
        // Strings take everything.
        let _ = write!(word, "{byte:02x}");
        word
    }))
}

/// Returns whether two words are the same, in a time that does not tell where they differ.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert!(one.len() == 32 && one.bytes().all(|it| it.is_ascii_hexdigit()));
        assert!(is_same(&one, &one) && !is_same(&one, &other));
        assert!(!is_same(&one, &one[1..]) && !is_same("", &one) && !is_same("a", "b"));
    }
}
