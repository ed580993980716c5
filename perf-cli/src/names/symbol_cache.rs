//! The folder that keeps the names that were looked up.

use std::env;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use perf_symbol::SymbolCache;

/// The folder in that of the user's caches.
const FOLDER: &str = "perfdata";

/// Returns the cache of this user; `None` if there is no folder for it, or if it is not known which program this is.
///
/// XDG Base Directory Specification: `XDG_CACHE_HOME`, where a relative path counts as none.
pub(crate) fn of_user() -> Option<SymbolCache> {
    let caches = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let caches =
        caches.or_else(|| Some(env::home_dir()?.join(".cache")).filter(|path| path.is_absolute()))?;
    Some(SymbolCache::new(caches.join(FOLDER), producer()?))
}

/// Returns what tells this program from one that was built at another time, from other sources perhaps. `None` if that is not known.
fn producer() -> Option<String> {
    let own = env::current_exe().and_then(std::fs::metadata).ok()?;
    let built = own.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some(format!("perfdata {} {} {built}", env!("CARGO_PKG_VERSION"), own.len()))
}
