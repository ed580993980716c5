//! Suggestions: known names that are close to an unknown one.

/// The longest name that is compared, in bytes. Nothing is close to a longer name.
const LONGEST: usize = 64;
/// The maximum number of names that are suggested.
const MAX_SUGGESTED: usize = 3;

/// Returns at most three known names, the closest first. Each differs from `name` in no more characters than a third of
/// its length.
pub(crate) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let most = name.len().div_ceil(3);
    if name.len() > LONGEST {
        return Vec::new();
    }
    let mut close: Vec<(usize, &str)> = Vec::new();
    for known in known.into_iter().filter(|known| known.len().abs_diff(name.len()) <= most) {
        let distance = distance(name, known);
        if distance <= most && !close.contains(&(distance, known)) {
            close.push((distance, known));
            close.sort_unstable();
            close.truncate(MAX_SUGGESTED);
        }
    }
    close.into_iter().map(|(_, known)| known.to_owned()).collect()
}

/// Returns how many characters must be inserted, removed or replaced to turn one name into the other, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    strsim::levenshtein(&a.to_ascii_lowercase(), &b.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("LLC", "llc", 0),
            ("abc", "acb", 2),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn closest_first_and_none_that_is_far() {
        let known = ["page-faults", "major-faults", "minor-faults", "cycles", "page-faults"];
        assert_eq!(closest("page-fauls", known), ["page-faults"]);
        assert_eq!(closest("mjnor-faults", known), ["minor-faults", "major-faults"]);
        assert!(closest("xyz", known).is_empty());
        assert!(closest(&"c".repeat(65), known).is_empty());
    }
}
