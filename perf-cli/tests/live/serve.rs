//! `perfdata serve`: what it answers to whom, by HTTP as it is on the wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    each_update_has_more_samples,
    only_those_with_the_address_get_an_answer,
    the_end_is_told,
    a_file_that_grows_is_read_again,
    a_browser_keeps_what_was_chosen,
    options_are_checked,
];

/// The program while it serves.
struct Served {
    child: Child,
    /// Such as `127.0.0.1:4711`.
    host: String,
    /// The path of the page, with the random word.
    path: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        // Killed, it would leave its command behind. SIGINT is ignored by what a script starts in the background.
        self.signal("-TERM");
        let _ = self.child.wait();
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.current_dir(needs::folder()).arg("serve").args(args);
    command
}

fn serve(args: &[&str]) -> Served {
    let mut child = command(args).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let (host, path) = line.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    Served { host: host.to_owned(), path: format!("/{path}"), child }
}

impl Served {
    fn signal(&self, signal: &str) {
        let _ = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
    }

    /// Sends a request, and returns the connection, from which the response comes.
    fn send(&self, request: &str, host: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&*self.host).unwrap();
        stream.write_all(format!("{request} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// Returns the number of the status, and the whole response.
    fn ask(&self, request: &str, host: &str) -> (u16, String) {
        let mut response = String::new();
        self.send(request, host).read_to_string(&mut response).unwrap();
        (response[9..12].parse().unwrap(), response)
    }

    fn get(&self, document: &str) -> (u16, String) {
        self.ask(&format!("GET {}{document}", self.path), &self.host)
    }

    /// Returns the facts about updates, one after the other; `None` is the end.
    fn updates(&self) -> impl Iterator<Item = Option<Value>> {
        let lines = self.send(&format!("GET {}updates", self.path), &self.host).lines();
        lines.filter_map(|line| match line.unwrap().strip_prefix("data: ")? {
            "end" => Some(None),
            facts => Some(Some(serde_json::from_str(facts).unwrap())),
        })
    }
}

fn each_update_has_more_samples() {
    let program = super::top::program();
    let mut served = serve(&["-e", "cpu-clock:u", "-F", "499", "-g", "-d", "0.3", "--", &program]);
    assert_eq!(served.get("flamegraph").0, 503, "nothing is made while nobody looks");
    let seen: Vec<_> = served.updates().take(3).map(Option::unwrap).collect();
    let samples: Vec<_> = seen.iter().map(|facts| facts["samples"].as_u64().unwrap()).collect();
    assert!(samples.is_sorted() && samples[2] > samples[0], "{seen:?}");
    let last = &seen[2];
    assert!(last["version"] == 3 && last["seconds"] == 30.0 && last["own_percent"].is_f64(), "{last}");
    let (status, page) = served.get("flamegraph?3");
    assert!(status == 200 && page.contains("frame-ancestors 'self'"), "{}", &page[..400]);
    for part in ["the last 30 s", "\"busy\"", "heavy"] {
        assert!(page.contains(part), "{part}");
    }
    served.signal("-INT");
    assert_eq!(served.child.wait().unwrap().code(), Some(143), "Ctrl-C ends, and ends the command");
}

fn only_those_with_the_address_get_an_answer() {
    let served = serve(&["-e", "page-faults:u", "--", "sleep", "60"]);
    let (status, page) = served.get("");
    assert!(status == 200 && page.contains("connect-src 'self'") && page.contains("<iframe"), "{page}");
    for document in ["page.js", "page.css"] {
        assert_eq!(served.get(document).0, 200, "{document}");
    }
    // Another site has given a name of its own to this machine.
    assert_eq!(served.ask(&format!("GET {}", served.path), "evil.example").0, 403);
    for document in ["../etc/passwd", "etc/passwd", "perf.data", "page.html"] {
        assert_eq!(served.get(document).0, 404, "{document}");
    }
    let wrong = format!("GET /{}/", "0".repeat(32));
    assert_eq!(served.ask(&wrong, &served.host).0, 404);
    assert_eq!(served.ask(&format!("POST {}", served.path), &served.host).0, 405);
    assert_eq!(served.ask("nonsense", &served.host).0, 400);
}

fn the_end_is_told() {
    let mut served = serve(&["-e", "page-faults:u", "-d", "0.1", "--", "sh", "-c", "sleep 1; exit 3"]);
    let seen: Vec<_> = served.updates().collect();
    assert!(seen.len() > 1 && seen.last() == Some(&None), "{seen:?}");
    assert_eq!(served.child.wait().unwrap().code(), Some(3), "the status is that of the command");
}

fn a_file_that_grows_is_read_again() {
    let whole = std::fs::read(testdata::path("plain.data")).unwrap();
    let path = needs::folder().join("growing.data");
    std::fs::write(&path, &whole[..whole.len() / 4]).unwrap();
    let served = serve(&["-i", "growing.data", "-d", "0.1"]);
    let mut updates = served.updates().map(Option::unwrap);
    let first = updates.next().unwrap();
    assert!(first["faults"].as_u64() > Some(0), "{first}");
    std::fs::write(&path, &whole).unwrap();
    let last = updates.find(|facts| facts["faults"] == 0).unwrap();
    assert!(last["samples"].as_u64() > first["samples"].as_u64(), "{first} {last}");
    assert!(served.get("flamegraph").1.contains("growing.data"));
}

fn a_browser_keeps_what_was_chosen() {
    needs::all(&[
        needs::Need::Runs(&["node", "--version"]),
        needs::Need::Runs(&["chromium-headless-shell", "--version"]),
    ]);
    let program = super::top::program();
    let served = serve(&["-e", "cpu-clock:u", "-F", "499", "-g", "-d", "0.5", "--", &program]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/serve.mjs");
    let mut command = Command::new("node");
    let address = format!("http://{}{}", served.host, served.path);
    command.arg(script).args(["chromium-headless-shell", &address]).current_dir(needs::folder());
    crate::check(&mut command);
}

fn options_are_checked() {
    let used = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = used.local_addr().unwrap().port().to_string();
    for (args, why) in [
        (&["-i", "nowhere.data"][..], "nowhere.data: "),
        (&["-i", "perf.data", "-p", "1"], "cannot be used with"),
        (&["-i", "perf.data", "-e", "cpu-clock"], "cannot be used with"),
        (&["--window", "0"], "must be seconds from 0.1 to 86400"),
        (&["--port", &port, "--", "true"], &format!("127.0.0.1:{port}: ")),
    ] {
        let output = command(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(why), "{args:?}: {said}");
    }
}
