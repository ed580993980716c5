//! One request by POST.

use std::io::Read;
use std::time::Duration;

use perf_export::otlp::OtlpEncoding;
use ureq::http::header::{HeaderName, HeaderValue, LOCATION};
use ureq::http::{Response, Uri};

use crate::args::export::{ExportArgs, To};
use crate::escape::OneLine;
use crate::outcome::Failure;
use crate::output::say;

/// The largest number of bytes of an answer that an error shows.
const SHOWN: u64 = 200;

/// The server that a profile is sent to, and how.
pub(in crate::export) struct Destination {
    uri: Uri,
    content_type: &'static str,
    headers: Vec<(HeaderName, HeaderValue)>,
    timeout: Duration,
}

impl Destination {
    /// Returns where the command line says that a profile is sent; `None` if it is not.
    ///
    /// # Errors
    ///
    /// If it cannot be sent there.
    pub(in crate::export) fn of(args: &ExportArgs) -> Result<Option<Self>, Failure> {
        let Some(url) = &args.sending.send else { return Ok(None) };
        let uri = uri(url, super::path_of(args.to)?)?;
        let content_type = match (args.to, crate::export::encoding(args)) {
            // It is compressed by gzip as a file, too.
            (To::Pprof, _) => "application/octet-stream",
            (_, OtlpEncoding::Json) => "application/json",
            _ => "application/x-protobuf",
        };
        let headers = args.sending.header.iter().map(|text| header(text)).collect::<Result<_, _>>()?;
        let timeout = Duration::from_secs(args.sending.send_timeout.get().into());
        Ok(Some(Self { uri, content_type, headers, timeout }))
    }

    /// Sends a profile, and says so.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, does not answer in time, or answers anything but a status from 200 to 299.
    pub(in crate::export) fn send(&self, body: &[u8]) -> Result<(), Failure> {
        let shown = self.shown();
        let failure = |what: &dyn core::fmt::Display| {
            Failure(format!("--send {shown}: {}", OneLine(what.to_string().as_bytes())))
        };
        let config = ureq::Agent::config_builder();
        #[cfg(feature = "https")]
        let config = config.tls_config(tls());
        let agent = config
            .http_status_as_error(false)
            // A profile goes nowhere else, and a redirect would mostly turn the request into one without it.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("perfdata/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(self.timeout))
            .build()
            .new_agent();
        let mut request = agent.post(&self.uri).header("Content-Type", self.content_type);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let answer = request.send(body).map_err(|error| match error {
            ureq::Error::Timeout(_) => {
                failure(&format!("no answer within {} s (--send-timeout)", self.timeout.as_secs()))
            }
            ureq::Error::Io(error) => failure(&error),
            error => failure(&error),
        })?;
        if !answer.status().is_success() {
            return Err(failure(&refusal(answer)));
        }
        say!("perfdata: sent {} bytes to {shown}", body.len());
        Ok(())
    }

    /// Returns the URL without its query, which may have a token.
    fn shown(&self) -> String {
        let uri = self.uri.to_string();
        let shown = uri.split('?').next().unwrap_or_default();
        OneLine(shown.as_bytes()).to_string()
    }
}

/// Returns the words about an answer that is no success.
fn refusal(mut answer: Response<ureq::Body>) -> String {
    let mut text = format!("the server answered {}", answer.status());
    if let Some(location) = answer.headers().get(LOCATION).filter(|_| answer.status().is_redirection()) {
        let location = String::from_utf8_lossy(location.as_bytes());
        text.push_str(&format!(", which points to {location}; give that URL if it is right"));
    }
    let mut begin = Vec::new();
    // What comes before an error is shown.
    let _ = answer.body_mut().as_reader().take(SHOWN).read_to_end(&mut begin);
    let begin = begin.trim_ascii();
    if !begin.is_empty() {
        text.push_str(&format!(": {}", OneLine(begin)));
    }
    text
}

/// Returns a URL, with the path of the format if it has none.
fn uri(url: &str, path: &str) -> Result<Uri, Failure> {
    let failure = |what: &str| Failure(format!("--send {}: {what}", OneLine(url.as_bytes())));
    // It is not shown, as it may have a password.
    let uri: Uri = url.parse().map_err(|error| Failure(format!("--send: no URL: {error}")))?;
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") if cfg!(feature = "https") => {}
        Some("https") => {
            return Err(failure(
                "this perfdata was built without HTTPS; build one that has it: cargo install perf-cli --features send,https",
            ));
        }
        _ => return Err(failure("a URL begins with http:// or https://")),
    }
    let authority = uri.authority().map(|it| it.as_str()).unwrap_or_default();
    if authority.contains('@') {
        // It would be in what is printed.
        return Err(Failure(
            "--send: a URL with a password is not sent to; use --header 'Authorization: ...'".into(),
        ));
    }
    if uri.path() != "/" {
        return Ok(uri);
    }
    let path = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.into_parts();
    parts.path_and_query = Some(path.parse().map_err(|error| failure(&format!("{error}")))?);
    Uri::from_parts(parts).map_err(|error| failure(&error.to_string()))
}

/// Returns the name and the value of a header. Errors do not show the value, which may be secret.
fn header(text: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let failure =
        || Failure("--header: a header is 'NAME: VALUE', for example 'Authorization: Bearer TOKEN'".into());
    let (name, value) = text.split_once(':').ok_or_else(failure)?;
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| failure())?;
    let value = HeaderValue::from_str(value.trim()).map_err(|_| failure())?;
    Ok((name, value))
}

/// Returns how connections are made secure: with the certificates that the system trusts.
#[cfg(feature = "https")]
fn tls() -> ureq::tls::TlsConfig {
    use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(std::sync::Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_path_has_that_of_the_format() {
        let of = |url| uri(url, "/v1/pprof").map(|it| it.to_string());
        for (url, expected) in [
            ("http://a", "http://a/v1/pprof"),
            ("http://a:4318/", "http://a:4318/v1/pprof"),
            ("http://[::1]:1?tenant=x", "http://[::1]:1/v1/pprof?tenant=x"),
            ("http://a/ingest?x=/", "http://a/ingest?x=/"),
            ("http://a//", "http://a//"),
        ] {
            assert_eq!(of(url).unwrap(), expected);
        }
        for (url, error) in [
            ("ftp://a", "--send ftp://a: a URL begins with http:// or https://"),
            ("a/b", "--send: no URL: "),
            ("localhost", "--send localhost: a URL begins with http:// or https://"),
            ("http://", "--send: no URL: "),
            ("http://user:secret@a b", "--send: no URL: "),
            ("", "--send: no URL: "),
            ("http://user:secret@a/", "--send: a URL with a password is not sent to"),
        ] {
            let Failure(said) = of(url).unwrap_err();
            assert!(said.starts_with(error), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
        assert_eq!(of("https://a").is_ok(), cfg!(feature = "https"));
    }

    #[test]
    fn headers() {
        let (name, value) = header("X-Scope: a: b ").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-scope", "a: b"));
        assert_eq!(header("Empty:").unwrap().1, "");
        for text in ["", "secret", "a b: secret", ": secret", "a: secret\r\nb: c", "a: secret\u{1}"] {
            let Failure(said) = header(text).unwrap_err();
            assert!(said.starts_with("--header: a header is") && !said.contains("secret"), "{said}");
        }
    }
}
