//! A download that starts, for programs that show it.

use std::fmt;
use std::sync::Arc;

use perf_session::BuildId;

use crate::files::BuildIdFile;

/// A download that a server has agreed to: see [`Debuginfod::with_observer`](super::Debuginfod::with_observer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Download<'a> {
    /// The build id of the file.
    pub id: BuildId,
    /// Which of the files of the build id it is.
    pub wanted: BuildIdFile,
    /// URL of the server.
    pub url: &'a str,
    /// Number of bytes of the file; `None` if the server does not announce it.
    pub size: Option<u64>,
}

/// What sees each download.
#[derive(Clone)]
pub(super) struct DownloadObserver(Arc<dyn Fn(&Download<'_>) + Send + Sync>);

impl DownloadObserver {
    pub(super) fn new(see: impl Fn(&Download<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    pub(super) fn see(&self, download: &Download<'_>) {
        self.0(download);
    }
}

impl fmt::Debug for DownloadObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DownloadObserver")
    }
}
