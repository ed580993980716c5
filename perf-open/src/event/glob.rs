//! Patterns of names: `*` stands for any number of characters, `?` for one.

/// Returns whether a name is a pattern.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Returns whether `name` matches `pattern`. Takes time in proportion to the product of their lengths at most.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.as_bytes(), name.as_bytes());
    // Where to retry if the rest of the pattern after the last `*` does not match: one letter later.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern, name) {
            ([b'*', after @ ..], _) => {
                retry = Some((after, name));
                pattern = after;
            }
            ([wanted, after @ ..], [letter, rest @ ..]) if wanted == letter || *wanted == b'?' => {
                (pattern, name) = (after, rest);
            }
            ([], []) => return true,
            _ => match retry {
                Some((after, [_, later @ ..])) => {
                    retry = Some((after, later));
                    (pattern, name) = (after, later);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name) in
            [("*", ""), ("a*c", "abbc"), ("a?c", "abc"), ("*_*h", "sched_switch"), ("", ""), ("a**b*", "aab")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("?", ""), ("a*c", "abcd"), ("*x*", "sched_switch"), ("abc", "ab")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_end_soon() {
        assert!(!matches(&"a*".repeat(2000), &format!("{}b", "a".repeat(1000))));
    }
}
