//! The processes of a user.

use std::fs;

use perf_record::Targets;

use crate::escape::shown;
use crate::outcome::Failure;

/// Returns the threads of all processes of a user, which a name or a number selects.
///
/// perf: `parse_uid`.
pub(super) fn observed(user: &str) -> Result<Targets, Failure> {
    let uid = match user.parse() {
        Ok(uid) => uid,
        Err(_) => uid(&fs::read_to_string("/etc/passwd").unwrap_or_default(), user)
            .ok_or_else(|| format!("--uid {}: there is no such user", shown(user)))?,
    };
    match Targets::user(uid)? {
        Targets::Threads(threads) if threads.is_empty() => {
            Err(Failure(format!("--uid {}: the user has no process", shown(user))))
        }
        observed => Ok(observed),
    }
}

/// Returns the number of a user in the text of `/etc/passwd`.
fn uid(passwd: &str, user: &str) -> Option<u32> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == user).then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn users_by_their_names() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\nnobody:x:65534:65534::/:/bin/false\n";
        assert_eq!((super::uid(passwd, "nobody"), super::uid(passwd, "root")), (Some(65534), Some(0)));
        assert_eq!((super::uid(passwd, "broken"), super::uid(passwd, "x")), (None, None));
    }
}
