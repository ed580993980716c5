//! `perfdata serve`: a page of where the time goes now, which updates itself.
//!
//! The page is that of `perfdata flamegraph`, made anew of the samples of the last while, or of a file that has grown. Around it is
//! another one, which gets a line for each update and puts the new page in place of the old one.

mod http;
mod pages;
mod site;
mod token;

use alloc::sync::Arc;
use std::net::{Ipv4Addr, TcpListener};

use crate::args::live::ServeArgs;
use crate::live::in_memory;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use pages::Pages;
use site::Site;

pub(super) fn run(args: &ServeArgs) -> Result<Outcome, Failure> {
    let failure = |error: std::io::Error| Failure(format!("127.0.0.1:{}: {error}", args.port));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(failure)?;
    let port = listener.local_addr().map_err(failure)?.port();
    let site = Arc::new(Site::new(token::random()?, port));
    if let Some(path) = &args.input {
        // What cannot be read is said before a browser is opened.
        let mut pages = Pages::new(args, path);
        pages.update_of_file(path, &site)?;
        begin(&site, listener)?;
        pages.follow_file(path, &site)
    } else {
        in_memory::record(&args.sampled, args.window, |recording| {
            begin(&site, listener)?;
            let result = Pages::of_recording(args).follow_recording(recording, &site);
            site.end();
            result
        })
    }
}

/// Answers requests from now on, and prints where.
fn begin(site: &Arc<Site>, listener: TcpListener) -> Result<(), Failure> {
    site.serve(listener)?;
    let mut output = Output::new();
    output.write(format!("{}\n", site.address()).as_bytes())?;
    output.flush()?;
    say!("perfdata: open the address in a browser; Ctrl-C ends");
    Ok(())
}
