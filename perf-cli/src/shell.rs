//! `perfdata completions` and `perfdata man`: what a shell and `man` know of this program.

use std::path::Path;

use clap_mangen::Man;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::output::Output;
use crate::{Failure, Outcome};

/// Prints the script that completes arguments.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    clap_complete::generate(args.shell, &mut Args::whole(), "perfdata", &mut output.buffer);
    output.flush()?;
    Ok(Outcome::Clean)
}

/// Prints the page of the program, or writes all pages into a folder.
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
