//! The arguments of `perfdata completions` and `perfdata man`.

use std::path::PathBuf;

use clap_complete::Shell;

pub(super) const COMPLETIONS_EXAMPLES: &str = "Examples:
  perfdata completions bash > perfdata.bash && source perfdata.bash
  perfdata completions zsh > ~/.zfunc/_perfdata
  perfdata completions fish > ~/.config/fish/completions/perfdata.fish";

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that the script is for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

pub(super) const MAN_EXAMPLES: &str = "Examples:
  perfdata man | man -l -
  perfdata man ~/.local/share/man/man1 && man perfdata-dump";

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder to write perfdata.1 and a page for each verb into; it is made if it is not there. Without it the page
    /// of perfdata goes to standard output
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
