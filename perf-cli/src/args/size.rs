//! Numbers of bytes.

/// Parses a number of bytes, with a suffix B, K, M or G.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let must = || "must be a number with a suffix B, K, M or G".to_owned();
    let at = text.len().checked_sub(1).filter(|at| text.is_char_boundary(*at)).ok_or_else(must)?;
    let (number, suffix) = text.split_at(at);
    let shift = match suffix {
        "B" | "b" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return Err(must()),
    };
    let number: u64 = number.parse().map_err(|_| must())?;
    number.checked_mul(1 << shift).filter(|size| *size > 0).ok_or_else(must)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_suffixes() {
        assert_eq!(
            (size("1B"), size("3k"), size("100M"), size("2G")),
            (Ok(1), Ok(3072), Ok(100 << 20), Ok(2 << 30))
        );
        for text in ["", "M", "5", "0M", "99999999999999999999G", "5é", "-1K"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
