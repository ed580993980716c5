//! `perfdata completions` and `perfdata man`: shell completions and manual pages of this program.

use std::path::Path;

use clap_mangen::Man;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::outcome::{Failure, Outcome};
use crate::output::Output;

/// Prints the completion script.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    clap_complete::generate(args.shell, &mut Args::whole(), "perfdata", &mut output.buffer);
    output.flush()?;
    Ok(Outcome::Clean)
}

/// Prints the manual page of the program, or writes all pages to a folder.
pub(crate) fn man(args: &ManArgs) -> Result<Outcome, Failure> {
    match &args.folder {
        Some(folder) => {
            write_pages(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        None => {
            let mut output = Output::new();
            Man::new(Args::whole()).render(&mut output.buffer)?;
            output.flush()?;
        }
    }
    Ok(Outcome::Clean)
}

fn write_pages(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Args::whole(), folder)
}
