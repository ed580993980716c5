//! The part of HTTP/1.1 that a page needs: requests without a body, and responses after which the connection ends.

use std::io::{self, Read, Write};

/// The largest head of a request, and the largest number of its headers.
const HEAD: usize = 8 << 10;
const HEADERS: usize = 64;

/// A request of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The path, without what follows a `?`.
    pub(super) path: String,
    /// The header `Host`; empty without one.
    pub(super) host: String,
}

/// The status of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    HeadTooLarge,
    Unavailable,
}

impl Status {
    /// Returns the number and the text.
    pub(super) fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

impl Request {
    /// Reads the head of a request; a body is not read.
    ///
    /// # Errors
    ///
    /// The status that answers what is no request of a document; that of a bad request if the connection ends before.
    pub(super) fn read(from: &mut impl Read) -> Result<Self, Status> {
        let mut head = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            let read = from.read(&mut buffer).map_err(|_| Status::BadRequest)?;
            head.extend_from_slice(buffer.get(..read).unwrap_or_default());
            let mut headers = [httparse::EMPTY_HEADER; HEADERS];
            let mut request = httparse::Request::new(&mut headers);
            match request.parse(&head) {
                Ok(httparse::Status::Complete(_)) => return Self::of(&request),
                Err(httparse::Error::TooManyHeaders) => return Err(Status::HeadTooLarge),
                Ok(httparse::Status::Partial) if head.len() > HEAD => return Err(Status::HeadTooLarge),
                Ok(httparse::Status::Partial) if read > 0 => {}
                _ => return Err(Status::BadRequest),
            }
        }
    }

    fn of(request: &httparse::Request<'_, '_>) -> Result<Self, Status> {
        if request.method != Some("GET") {
            return Err(Status::MethodNotAllowed);
        }
        let mut hosts = request.headers.iter().filter(|it| it.name.eq_ignore_ascii_case("host"));
        let host = hosts.next().and_then(|it| core::str::from_utf8(it.value).ok()).unwrap_or_default();
        if hosts.next().is_some() {
            return Err(Status::BadRequest);
        }
        let path = request.path.unwrap_or_default();
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        Ok(Self { path: path.to_owned(), host: host.to_owned() })
    }
}

/// Writes the head of a response. Nothing of it is kept by browsers, or is shown in the pages of others.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn write_head(
    out: &mut impl Write,
    status: Status,
    kind: &str,
    policy: &str,
    length: Option<usize>,
) -> io::Result<()> {
    let length = length.map_or_else(String::new, |length| format!("Content-Length: {length}\r\n"));
    let allow = if status == Status::MethodNotAllowed { "Allow: GET\r\n" } else { "" };
    write!(
        out,
        "HTTP/1.1 {}\r\nContent-Type: {kind}\r\n{length}{allow}Content-Security-Policy: {policy}\r\nCache-Control: no-store\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n",
        status.line()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most so many bytes at once.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    fn read(text: &str) -> Result<Request, Status> {
        let whole = Request::read(&mut text.as_bytes());
        assert_eq!(Request::read(&mut Slow(text.as_bytes(), 1)), whole, "{text}");
        whole
    }

    #[test]
    fn requests_have_a_path_and_a_host() {
        let request =
            read("GET /word/page?3#4 HTTP/1.1\r\nhost: localhost:80\r\nAccept: */*\r\n\r\n").unwrap();
        assert_eq!((&*request.path, &*request.host), ("/word/page", "localhost:80"));
        assert_eq!(read("GET / HTTP/1.0\r\n\r\n").unwrap().host, "");
    }

    #[test]
    fn what_is_no_request_of_a_document_is_refused() {
        for text in [
            "",
            "GET",
            "GET / HTTP/1.1\r\nHost: a\r\n",
            "\0\0\0",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        ] {
            assert_eq!(read(text), Err(Status::BadRequest), "{text}");
        }
        assert_eq!(read("POST / HTTP/1.1\r\n\r\n"), Err(Status::MethodNotAllowed));
        let with_headers = |many: usize| format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(many));
        assert!(read(&with_headers(HEADERS - 1)).is_ok() && read(&with_headers(HEADERS)).is_ok());
        assert_eq!(read(&with_headers(HEADERS + 1)), Err(Status::HeadTooLarge));
    }

    #[test]
    fn heads_are_bounded() {
        // The end is read with the bytes before it, or never.
        let of = |length: usize| format!("GET / HTTP/1.1\r\nA: {}", "b".repeat(length - 19));
        assert_eq!(read(&of(HEAD)), Err(Status::BadRequest), "the connection ended");
        assert_eq!(read(&of(HEAD + 1)), Err(Status::HeadTooLarge));
        assert!(read(&(of(HEAD - 4) + "\r\n\r\n")).is_ok());
        let mut endless = io::repeat(b'a');
        assert_eq!(Request::read(&mut endless), Err(Status::HeadTooLarge));
    }

    #[test]
    fn responses_say_what_is_allowed() {
        let mut out = Vec::new();
        write_head(&mut out, Status::MethodNotAllowed, "text/plain", "default-src 'none'", Some(3)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("HTTP/1.1 405 ") && text.ends_with("\r\n\r\n"), "{text}");
        for line in ["Allow: GET", "Content-Length: 3", "Cache-Control: no-store", "Connection: close"] {
            assert!(text.contains(&format!("\r\n{line}\r\n")), "{line}");
        }
    }
}
