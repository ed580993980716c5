//! Options of debuginfod's client.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Which debuginfod servers are asked, and where what they send is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DebuginfodOptions {
    /// URLs of servers, such as `http://localhost:8002`. The first one that has a file is used. Only
    /// those that [`can_ask`](Self::can_ask) names can be asked.
    pub urls: Vec<String>,
    /// Folder in which files are kept, as the client of elfutils keeps them. `None` if there is no place for it; then nothing
    /// is fetched.
    pub cache: Option<PathBuf>,
    /// Time in which a server has to answer, and then to send 100 KiB each time.
    pub timeout: Duration,
    /// Number of bytes of a file. A larger one is not fetched.
    pub max_size: u64,
    /// Time for a whole file; `None` for no limit but [`timeout`](Self::timeout).
    pub max_time: Option<Duration>,
    /// Time for all downloads together, in which servers that do not answer count too; `None` for no limit. What is not fetched
    /// then has [`NoSymbols::FetchLimit`](crate::NoSymbols::FetchLimit). Files in the cache are used nevertheless.
    pub total_time: Option<Duration>,
    /// Number of bytes of all downloads together; `None` for no limit. A file that has more than what is left is not fetched;
    /// a smaller one still is.
    pub total_size: Option<u64>,
}

impl DebuginfodOptions {
    /// Returns what the variables of the environment say that the client of elfutils has: `DEBUGINFOD_URLS`,
    /// `DEBUGINFOD_CACHE_PATH`, or else `debuginfod_client` in `XDG_CACHE_HOME` or in `~/.cache`, `DEBUGINFOD_TIMEOUT` and
    /// `DEBUGINFOD_MAXTIME` in seconds, `DEBUGINFOD_MAXSIZE` in bytes. By default, the timeout is 90 s, and a file may have
    /// 2 GiB. All downloads together have no limit.
    ///
    /// elfutils: `debuginfod-client.c`.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Self {
        const CLIENT: &str = "debuginfod_client";
        let text = |name| get(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
        let number = |name| text(name).trim().parse::<u64>().ok().filter(|&number| number != 0);
        let folder = |name| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = folder("DEBUGINFOD_CACHE_PATH")
            .or_else(|| Some(folder("XDG_CACHE_HOME")?.join(CLIENT)))
            .or_else(|| Some(folder("HOME")?.join(".cache").join(CLIENT)));
        Self {
            urls: urls(&text("DEBUGINFOD_URLS")),
            cache,
            timeout: Duration::from_secs(number("DEBUGINFOD_TIMEOUT").unwrap_or(90)),
            max_size: number("DEBUGINFOD_MAXSIZE").unwrap_or(2 << 30),
            max_time: number("DEBUGINFOD_MAXTIME").map(Duration::from_secs),
            total_time: None,
            total_size: None,
        }
    }

    /// Replaces the URLs by those of a text, separated by blanks.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::DebuginfodOptions;
    ///
    /// let options = DebuginfodOptions::from_env().with_urls("http://localhost:8002 http://example.org");
    /// assert_eq!(options.urls.len(), 2);
    /// ```
    #[must_use]
    pub fn with_urls(self, text: &str) -> Self {
        Self { urls: urls(text), ..self }
    }

    /// Returns whether a server can be asked: its URL begins with `http://` or, with the feature `https`, with `https://`.
    #[must_use]
    pub fn can_ask(url: &str) -> bool {
        url.starts_with("http://") || cfg!(feature = "https") && url.starts_with("https://")
    }
}

/// Returns the URLs of a text. Other words, such as `ima:enforcing`, are for elfutils.
fn urls(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|word| word.contains("://")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let options = |variables: &[(&str, &str)]| {
            let variables: Vec<_> =
                variables.iter().map(|(a, b)| (a.to_string(), OsString::from(b))).collect();
            DebuginfodOptions::from_variables(|name| {
                variables.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone())
            })
        };
        let it = options(&[]);
        assert_eq!((it.urls.len(), it.cache, it.timeout.as_secs(), it.max_time), (0, None, 90, None));
        let it = options(&[
            ("DEBUGINFOD_URLS", " ima:enforcing http://a  https://b/ "),
            ("HOME", "/home/u"),
            ("DEBUGINFOD_TIMEOUT", "5"),
            ("DEBUGINFOD_MAXSIZE", "1000"),
            ("DEBUGINFOD_MAXTIME", "60"),
        ]);
        assert_eq!(it.urls, ["http://a", "https://b/"]);
        assert_eq!(it.cache, Some("/home/u/.cache/debuginfod_client".into()));
        assert_eq!((it.timeout.as_secs(), it.max_size), (5, 1000));
        assert_eq!(it.max_time, Some(Duration::from_secs(60)));
        let it = options(&[("HOME", "/home/u"), ("XDG_CACHE_HOME", "/cache")]);
        assert_eq!(it.cache, Some("/cache/debuginfod_client".into()));
        let it = options(&[("DEBUGINFOD_CACHE_PATH", "/d"), ("XDG_CACHE_HOME", "/cache")]);
        assert_eq!(it.cache, Some("/d".into()));
    }
}
