//! The folder that keeps the names that were looked up.

use std::env;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use perf_symbol::SymbolCache;

/// The folder in that of the user's caches.
const FOLDER: &str = "perfdata";

/// Returns the cache of this user; `None` if there is no folder for it.
///
/// XDG Base Directory Specification: `XDG_CACHE_HOME`, where a relative path counts as none.
pub(crate) fn of_user() -> Option<SymbolCache> {
    let caches = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let caches =
        caches.or_else(|| Some(env::home_dir()?.join(".cache")).filter(|path| path.is_absolute()))?;
    Some(SymbolCache::new(caches.join(FOLDER), producer()))
}

/// Returns what tells this program from one that was built at another time, from other sources perhaps.
fn producer() -> String {
    let own = env::current_exe().and_then(std::fs::metadata).ok();
    let built = own.as_ref().and_then(|own| own.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let (size, built) = (own.map_or(0, |own| own.len()), built.unwrap_or_default().as_nanos());
    format!("perfdata {} {size} {built}", env!("CARGO_PKG_VERSION"))
}
