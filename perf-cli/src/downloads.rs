//! A line of progress for each file that comes from a debuginfod server.

use std::io::IsTerminal;

use indicatif::BinaryBytes;
use perf_symbol::{BuildIdFile, Download};

use crate::output::say;

/// Prints a line on standard error if that is a terminal.
pub(crate) fn show(download: &Download<'_>) {
    if std::io::stderr().is_terminal() {
        say!("{}", line(download));
    }
}

fn line(download: &Download<'_>) -> String {
    let what = match download.wanted {
        BuildIdFile::Executable => "file",
        BuildIdFile::DebugInfo => "debug file",
        BuildIdFile::Source => "source file",
    };
    let size = download.size.map(|size| format!(", {}", BinaryBytes(size))).unwrap_or_default();
    format!("perfdata: fetching the {what} of build id {} from {}{size}", download.id, download.url)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::{Arc, Mutex};

    use perf_session::BuildId;
    use perf_symbol::{Cancellation, Debuginfod, DebuginfodOptions, Files, ReadFiles};

    use super::*;

    #[test]
    fn a_line_names_what_comes_from_where() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for (stream, size) in listener.incoming().zip(["Content-Length: 2048\r\n", ""]) {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 1000]);
                let head = format!("HTTP/1.1 200 OK\r\n{size}Connection: close\r\n\r\n");
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&[0; 2048]));
            }
        });
        let cache = tempfile::tempdir().unwrap();
        let mut options = DebuginfodOptions::from_env().with_urls(&url);
        options.cache = Some(cache.path().into());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&lines);
        let files = Debuginfod::new(ReadFiles, options)
            .with_observer(move |download| to.lock().unwrap().push(line(download)));
        let id = BuildId::new(&[0xab; 8]);
        for wanted in [BuildIdFile::Executable, BuildIdFile::DebugInfo] {
            assert!(files.fetch(id, wanted, 1 << 20, &Cancellation::new()).is_err(), "no ELF file");
        }
        let expected = [
            format!("perfdata: fetching the file of build id abababababababab from {url}, 2.00 KiB"),
            format!("perfdata: fetching the debug file of build id abababababababab from {url}"),
        ];
        assert_eq!(*lines.lock().unwrap(), expected);
    }
}
