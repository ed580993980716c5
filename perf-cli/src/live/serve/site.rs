//! The documents that are served, and to whom.
//!
//! There are five, each at a fixed path below the random word: nothing else is read or given, and no path is one of a file.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::io::{self, BufWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::http::{Request, Status, write_head};
use super::token;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// What the page around may do: its own script, its updates, and the flame graph in it.
const POLICY: &str = "default-src 'none'; connect-src 'self'; frame-src 'self'; script-src 'self'; style-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Who may show the flame graph; what it may do is its own policy.
const FRAMED: &str = "frame-ancestors 'self'";

/// The largest number of connections at a time.
const CONNECTIONS: usize = 32;
/// How long a request, and a part of a response, may take.
const REQUEST: Duration = Duration::from_secs(5);
const WRITE: Duration = Duration::from_secs(10);
/// The time after which a byte tells whether somebody still looks.
const QUIET: Duration = Duration::from_secs(5);
/// How long, and for how many bytes, the rest of a request is waited for.
const LEAVE: Duration = Duration::from_secs(1);
const REST: u64 = 1 << 20;
/// How long those who look get to know that the recording has ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// The documents of a page that updates itself.
#[derive(Debug)]
pub(super) struct Site {
    token: String,
    /// The names of this machine that the page is served under: a name that another site has given it is none of them.
    hosts: [String; 2],
    state: Mutex<SiteState>,
    changed: Condvar,
    connections: AtomicUsize,
}

/// The newest update.
#[derive(Debug, Default)]
struct SiteState {
    /// The flame graph; `None` before the first one.
    page: Option<Arc<[u8]>>,
    /// What is known of it, as JSON.
    facts: String,
    /// The number of updates.
    version: u64,
    /// The number of those who wait for updates.
    viewers: usize,
    has_ended: bool,
}

/// What answers a request.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Fixed(&'static str, &'static str),
    Page(Arc<[u8]>),
    Updates,
    Refused(Status),
}

/// Counts as a connection while it lives.
struct Connection(Arc<Site>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Site {
    pub(super) fn new(token: String, port: u16) -> Self {
        Self {
            token,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            state: Mutex::default(),
            changed: Condvar::new(),
            connections: AtomicUsize::new(0),
        }
    }

    /// Returns the address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://{}/{}/", self.hosts[0], self.token)
    }

    /// Answers the requests of a listener from now on, until the program ends.
    ///
    /// # Errors
    ///
    /// If there can be no thread.
    pub(super) fn serve(self: &Arc<Self>, listener: TcpListener) -> io::Result<()> {
        let site = Arc::clone(self);
        thread::Builder::new().name("listen".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    Ok(stream) => site.accept(stream),
                    // For example too many open files: the next moment may be better.
                    Err(_) => thread::sleep(Duration::from_millis(100)),
                }
            }
        })?;
        Ok(())
    }

    /// Answers a connection on a thread of its own.
    fn accept(self: &Arc<Self>, stream: TcpStream) {
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        let connection = Connection(Arc::clone(self));
        if before >= CONNECTIONS {
            // Who has too many connections need not be told why.
            return;
        }
        let answered = move || {
            // Who asked may be gone.
            let _ = connection.0.answer(&stream);
        };
        // Without a thread, the connection is closed.
        let _ = thread::Builder::new().name("answer".to_owned()).spawn(answered);
    }

    fn answer(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE))?;
        let mut from = Deadline { stream, end: Instant::now() + REQUEST };
        let answer =
            Request::read(&mut from).map_or_else(Answer::Refused, |request| self.answer_to(&request));
        let mut out = BufWriter::new(stream);
        let answered = match answer {
            Answer::Fixed(kind, text) => respond(&mut out, Status::Ok, kind, POLICY, text.as_bytes()),
            Answer::Page(page) => respond(&mut out, Status::Ok, "text/html; charset=utf-8", FRAMED, &page),
            Answer::Refused(status) => {
                respond(&mut out, status, "text/plain; charset=utf-8", POLICY, status.line().as_bytes())
            }
            Answer::Updates => self.push_updates(&mut out),
        };
        drop(out);
        leave(stream);
        answered
    }

    /// Returns the answer to a request.
    fn answer_to(&self, request: &Request) -> Answer {
        if !self.hosts.iter().any(|host| host.eq_ignore_ascii_case(&request.host)) {
            return Answer::Refused(Status::Forbidden);
        }
        let parts = request.path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let Some((_, document)) = parts.filter(|(word, _)| token::is_same(word, &self.token)) else {
            return Answer::Refused(Status::NotFound);
        };
        match document {
            "" => Answer::Fixed("text/html; charset=utf-8", PAGE),
            "page.js" => Answer::Fixed("text/javascript; charset=utf-8", SCRIPT),
            "page.css" => Answer::Fixed("text/css; charset=utf-8", STYLE),
            "flamegraph" => match &self.state().page {
                Some(page) => Answer::Page(Arc::clone(page)),
                None => Answer::Refused(Status::Unavailable),
            },
            "updates" => Answer::Updates,
            _ => Answer::Refused(Status::NotFound),
        }
    }

    /// Writes a line for each update, as Server-Sent Events, until the recording or the connection ends.
    fn push_updates(&self, out: &mut impl Write) -> io::Result<()> {
        write_head(out, Status::Ok, "text/event-stream", POLICY, None)?;
        out.flush()?;
        self.state().viewers += 1;
        let result = self.push_each(out);
        self.state().viewers -= 1;
        result
    }

    fn push_each(&self, out: &mut impl Write) -> io::Result<()> {
        let mut seen = 0;
        loop {
            let state = self.state();
            let waited =
                self.changed.wait_timeout_while(state, QUIET, |it| it.version == seen && !it.has_ended);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let (has_ended, is_new) = (state.has_ended, state.version != seen);
            let line = match (is_new, has_ended) {
                (true, _) => format!("data: {}\n\n", state.facts),
                (false, true) => "event: end\ndata: end\n\n".to_owned(),
                (false, false) => ":\n\n".to_owned(),
            };
            seen = state.version;
            drop(state);
            out.write_all(line.as_bytes())?;
            out.flush()?;
            if has_ended && !is_new {
                return Ok(());
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, SiteState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether somebody waits for updates.
    pub(super) fn has_viewers(&self) -> bool {
        self.state().viewers > 0
    }

    /// Gives those who look another flame graph, with an object of facts about it.
    pub(super) fn update(&self, page: Vec<u8>, mut facts: Value) {
        let mut state = self.state();
        state.version += 1;
        facts["version"] = state.version.into();
        state.facts = facts.to_string();
        state.page = Some(page.into());
        drop(state);
        self.changed.notify_all();
    }

    /// Tells those who look that nothing more comes.
    pub(super) fn end(&self) {
        self.state().has_ended = true;
        self.changed.notify_all();
        let end = Instant::now() + FAREWELL;
        while self.has_viewers() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Ends a connection when the other side has, or after a while: closed with bytes of a request that were not read, it would be reset,
/// and the response could be lost.
fn leave(stream: &TcpStream) {
    let from = Deadline { stream, end: Instant::now() + LEAVE };
    if stream.shutdown(Shutdown::Write).is_ok() {
        let _ = io::copy(&mut from.take(REST), &mut io::sink());
    }
}

/// Writes a response with its content.
fn respond(out: &mut impl Write, status: Status, kind: &str, policy: &str, content: &[u8]) -> io::Result<()> {
    write_head(out, status, kind, policy, Some(content.len()))?;
    out.write_all(content)?;
    out.flush()
}

/// Reads until a time: who sends a byte now and then is not waited for.
struct Deadline<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl io::Read for Deadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        (&mut &*self.stream).read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn site() -> Site {
        Site::new("word".to_owned(), 80)
    }

    fn answer(site: &Site, path: &str, host: &str) -> Answer {
        site.answer_to(&Request { path: path.to_owned(), host: host.to_owned() })
    }

    #[test]
    fn only_those_with_the_word_and_the_name_get_an_answer() {
        let site = site();
        assert_eq!(site.address(), "http://127.0.0.1:80/word/");
        let refused = |path, host, status| {
            assert_eq!(answer(&site, path, host), Answer::Refused(status), "{path} {host}")
        };
        for host in ["", "127.0.0.1", "127.0.0.1:81", "evil.example:80", "localhost", "[::1]:80"] {
            refused("/word/", host, Status::Forbidden);
        }
        for path in [
            "/",
            "/word",
            "/wore/",
            "/word/../etc/passwd",
            "/word/etc/passwd",
            "/word/page.js/",
            "//word/",
            "word/",
            "",
        ] {
            refused(path, "127.0.0.1:80", Status::NotFound);
        }
        for (path, start) in [("/word/", "<!doctype html>"), ("/word/page.js", "//"), ("/word/page.css", "")]
        {
            let Answer::Fixed(_, text) = answer(&site, path, "LocalHost:80") else { panic!("{path}") };
            assert!(text.starts_with(start), "{path}");
        }
        assert_eq!(answer(&site, "/word/updates", "127.0.0.1:80"), Answer::Updates);
        refused("/word/flamegraph", "127.0.0.1:80", Status::Unavailable);
        site.update(b"page".to_vec(), json!({}));
        assert_eq!(answer(&site, "/word/flamegraph", "127.0.0.1:80"), Answer::Page(b"page"[..].into()));
    }

    #[test]
    fn each_update_is_a_line_and_the_end_another_one() {
        let site = site();
        site.update(Vec::new(), json!({ "samples": 3 }));
        site.state().has_ended = true;
        let mut out = Vec::new();
        site.push_updates(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (head, lines) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("text/event-stream") && head.contains("connect-src 'self'"), "{head}");
        assert_eq!(lines, "data: {\"samples\":3,\"version\":1}\n\nevent: end\ndata: end\n\n");
        assert!(!site.has_viewers());
    }

    #[test]
    fn who_is_gone_is_no_viewer() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if bytes.starts_with(b"data") {
                    Err(io::ErrorKind::BrokenPipe.into())
                } else {
                    Ok(bytes.len())
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let site = site();
        site.update(Vec::new(), json!({}));
        assert!(site.push_updates(&mut Closed).is_err());
        assert!(!site.has_viewers());
    }

    #[test]
    fn connections_are_bounded() {
        let site = Arc::new(site());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS + 2 {
            clients.push(TcpStream::connect(to).unwrap());
            site.accept(listener.accept().unwrap().0);
        }
        assert_eq!(site.connections.load(Ordering::Relaxed), CONNECTIONS);
        drop(clients);
        let end = Instant::now() + Duration::from_secs(60);
        while site.connections.load(Ordering::Relaxed) > 0 {
            assert!(Instant::now() < end, "connections that were closed do not count");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
