//! The value of `--control`.

use std::path::PathBuf;

/// Where commands come from, and where the answers go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) commands: PathBuf,
    pub(crate) answers: Option<PathBuf>,
}

impl Control {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let path: fn(&str) -> Option<PathBuf> = match text.split_once(':') {
            Some(("fifo", _)) => |path| (!path.is_empty()).then(|| path.into()),
            Some(("fd", _)) => |number| Some(format!("/proc/self/fd/{}", number.parse::<u32>().ok()?).into()),
            _ => |_| None,
        };
        let (_, places) = text.split_once(':').unwrap_or_default();
        let (commands, answers) = match places.split_once(',') {
            Some((commands, answers)) => (commands, Some(answers)),
            None => (places, None),
        };
        let control = || {
            let answers = match answers {
                Some(answers) => Some(path(answers)?),
                None => None,
            };
            Some(Self { commands: path(commands)?, answers })
        };
        control().ok_or_else(|| {
            "must be fd:N or fd:N,N with numbers of open descriptors, or fifo:PATH or fifo:PATH,PATH"
                .to_owned()
        })
    }
}
