//! `perfdata export --send`: what a server on this machine gets, and the messages about its answers.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread::{self, JoinHandle};

/// A request: its first line, its headers and its body.
#[derive(Debug, Default)]
struct Request {
    line: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

fn request(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut request = Request::default();
    reader.read_line(&mut request.line).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => request.headers.push(line.to_ascii_lowercase()),
        }
    }
    let size = request.headers.iter().find_map(|it| it.strip_prefix("content-length: "));
    request.body = vec![0; size.unwrap().parse().unwrap()];
    reader.read_exact(&mut request.body).unwrap();
    request
}

/// Starts a server that answers one request. Returns its URL, without a path.
fn server(answer: impl Into<Vec<u8>>) -> (String, JoinHandle<Request>) {
    let answer = answer.into();
    served(move |mut stream| {
        let request = request(&stream);
        // One that does not read all of it closes the connection.
        let _ = stream.write_all(&answer);
        request
    })
}

fn served<T: Send + 'static>(serve: impl FnOnce(TcpStream) -> T + Send + 'static) -> (String, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (url, thread::spawn(move || serve(listener.accept().unwrap().0)))
}

struct Run {
    status: i32,
    out: Vec<u8>,
    err: String,
}

/// Exports a capture, in a folder.
fn export(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.current_dir(folder).args(["export", "--no-symbols"]).args(args);
    // A proxy would get the request.
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    let output = command.arg(testdata::path("callchain.data")).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    Run { status: output.status.code().unwrap(), out: output.stdout, err }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(needs::folder()).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn the_body_is_what_a_file_has() {
    for (to, path, kind) in [
        ("otlp", "/v1development/profiles", "application/x-protobuf"),
        ("otlp-json", "/v1development/profiles", "application/json"),
        ("pprof", "/v1/pprof", "application/octet-stream"),
    ] {
        let folder = folder();
        let (url, request) = server(OK);
        let args = ["--to", to, "--send", &url, "--header", "X-Token: abc", "--header", "X-Scope:me"];
        let run = export(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(is_empty(folder.path()) && run.out.is_empty());
        let request = request.join().unwrap();
        assert_eq!(request.line, format!("POST {path} HTTP/1.1\r\n"));
        let said = format!("perfdata: sent {} bytes to {url}{path}\n", request.body.len());
        assert!(run.err.ends_with(&said) && !run.err.contains("wrote"), "{}", run.err);
        for header in [&format!("content-type: {kind}"), "x-token: abc", "x-scope: me"] {
            assert!(request.headers.iter().any(|it| it == header), "{header}: {request:?}");
        }
        assert_eq!(request.body, export(folder.path(), &["--to", to, "-o", "-"]).out, "{to}");
    }
}

#[test]
fn with_a_file_it_writes_and_sends() {
    let folder = folder();
    // The name makes it JSON.
    let (url, request) = server("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}");
    let url = format!("{url}/custom/path?tenant=1");
    let run = export(folder.path(), &["--to", "otlp", "-o", "out.json", "--send", &url]);
    assert_eq!(run.status, 0, "{}", run.err);
    // A query may be secret.
    assert!(run.err.ends_with("/custom/path\n"), "{}", run.err);
    let request = request.join().unwrap();
    assert_eq!(request.line, "POST /custom/path?tenant=1 HTTP/1.1\r\n");
    assert!(request.headers.iter().any(|it| it == "content-type: application/json"));
    assert_eq!(request.body, fs::read(folder.path().join("out.json")).unwrap());

    let (url, request) = server(OK);
    let run = export(folder.path(), &["--to", "pprof", "-o", "-", "--send", &url]);
    assert_eq!((run.status, run.out), (0, request.join().unwrap().body));
}

#[test]
fn an_answer_that_is_no_success_is_an_error_that_shows_its_begin() {
    let folder = folder();
    let refused = |answer: &[u8], expected: &str| {
        let (url, request) = server(answer);
        let run = export(folder.path(), &["--to", "pprof", "--send", &url]);
        request.join().unwrap();
        assert_eq!((run.status, run.out.len()), (1, 0), "{}", run.err);
        let expected = format!("perfdata: --send {url}/v1/pprof: the server answered {expected}\n");
        assert!(run.err.ends_with(&expected), "{}", run.err);
        assert!(is_empty(folder.path()));
    };
    let text = b"HTTP/1.1 404 Not Found\r\nContent-Length: 18\r\n\r\n\x1b[2Jno\nsuch\xff path\n";
    refused(text, r"404 Not Found: \u{1b}[2Jno\nsuch\xff path");
    refused(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "401 Unauthorized");
    // Until the connection is closed, with more than is shown.
    let long = [&b"HTTP/1.1 500 Internal Server Error\r\n\r\n"[..], &[b'x'; 1000]].concat();
    refused(&long, &format!("500 Internal Server Error: {}", "x".repeat(200)));
    let at_limit =
        [&b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 200\r\n\r\n"[..], &[b'y'; 200]].concat();
    refused(&at_limit, &format!("429 Too Many Requests: {}", "y".repeat(200)));
    // Less than was announced.
    refused(
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\nbusy",
        "503 Service Unavailable: busy",
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}/x", other.local_addr().unwrap());
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let answer = format!("HTTP/1.1 {status}\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        let (url, request) = server(answer);
        let run = export(folder().path(), &["--to", "otlp", "--send", &url, "--header", "X-Token: abc"]);
        request.join().unwrap();
        assert_eq!(run.status, 1);
        let expected =
            format!("the server answered {status}, which points to {to}; give that URL if it is right\n");
        assert!(run.err.ends_with(&expected) && !run.err.contains("abc"), "{}", run.err);
    }
    other.set_nonblocking(true).unwrap();
    assert_eq!(other.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_server_that_does_not_answer_is_an_error() {
    let folder = folder();
    let failed = |url: &str, expected: &str| {
        let args = ["--to", "otlp", "--send", url, "--send-timeout", "1", "-o", "kept.otlp"];
        let run = export(folder.path(), &args);
        assert_eq!(run.status, 1, "{}", run.err);
        let begin = format!("perfdata: --send {url}/v1development/profiles: ");
        assert!(run.err.contains(&begin) && run.err.contains(expected), "{}", run.err);
        // The file is written nevertheless.
        fs::remove_file(folder.path().join("kept.otlp")).unwrap();
    };
    let (url, closed) = served(drop);
    failed(&url, "");
    closed.join().unwrap();
    let (url, closed) = served(|stream| drop(request(&stream)));
    failed(&url, "");
    closed.join().unwrap();
    let url =
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().map(|it| format!("http://{it}")).unwrap();
    failed(&url, "");
    let (url, silent) = served(|stream| {
        request(&stream);
        stream
    });
    failed(&url, "no answer within 1 s (--send-timeout)");
    drop(silent.join().unwrap());
    // A head that goes on until the client has enough.
    let (url, endless) = served(|mut stream| {
        request(&stream);
        while stream
            .write_all(b"HTTP/1.1 200 OK\r\nX: ")
            .and_then(|()| stream.write_all(&[b'x'; 4096]))
            .is_ok()
        {}
    });
    failed(&url, "");
    endless.join().unwrap();
    // An error whose text never ends.
    let (url, endless) = served(|mut stream| {
        request(&stream);
        let _ = stream.write_all(b"HTTP/1.1 500 No\r\n\r\n");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    failed(&url, &"x".repeat(200));
    endless.join().unwrap();
}

#[test]
fn what_cannot_be_sent_is_said_before_the_capture_is_read() {
    let folder = folder();
    for (args, expected) in [
        (&["--to", "csv", "--send", "http://a"][..], "--send needs --to otlp, otlp-json or pprof"),
        (&["--to", "parquet", "--send", "http://a"], "--send needs --to otlp, otlp-json or pprof"),
        (&["--to", "otlp", "--send", "ftp://a"], "a URL begins with http:// or https://"),
        (&["--to", "otlp", "--send", "http://u:p@a"], "use --header 'Authorization: ...'"),
        (&["--to", "otlp", "--send", "http://a", "--header", "x"], "--header: a header is 'NAME: VALUE'"),
        (&["--to", "otlp", "--header", "a: b"], "--send <URL>"),
        (&["--to", "otlp", "--send", "http://a", "--send-timeout", "0"], "--send-timeout"),
    ] {
        let run = export(folder.path(), args);
        assert!(run.status != 0 && run.err.contains(expected), "{args:?}: {}", run.err);
        assert!(is_empty(folder.path()));
    }
}
