//! The arguments of `perfdata completions` and `perfdata man`.

use std::path::PathBuf;

use clap_complete::Shell;

pub(super) const COMPLETIONS_EXAMPLES: &str = "Examples:
  perfdata completions bash > perfdata.bash && source perfdata.bash
  perfdata completions zsh > ~/.zfunc/_perfdata
  perfdata completions fish > ~/.config/fish/completions/perfdata.fish";

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to write the script for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

pub(super) const MAN_EXAMPLES: &str = "Examples:
  perfdata man | man -l -
  perfdata man ~/.local/share/man/man1 && man perfdata-dump";

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Folder to write perfdata.1 and one page per verb to; created if it does not exist. By default, the page of
    /// perfdata goes to standard output
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
