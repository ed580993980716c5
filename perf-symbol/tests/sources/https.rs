//! Files from a debuginfod server by HTTPS, whose certificate the system trusts or not. The keys of the server and of the
//! authority that has signed it were made by `fixtures/https/make.sh`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::debuginfod::{ID, file, names_of, path};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/https").join(name)
}

/// Starts a server that has an executable, and returns its URL.
fn server() -> String {
    let certificates =
        CertificateDer::pem_file_iter(fixture("server.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(certificates, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    // It ends with the test program.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            let lines = BufReader::new(&mut stream).lines().map_while(Result::ok);
            let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
            let is_of_file = lines.first().is_some_and(|line| line.contains(&path("executable")));
            let (status, body) =
                if is_of_file { ("200 OK", file("f", &ID)) } else { ("404 Not Found", vec![]) };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // A client that does not trust it has gone.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    url
}

/// The test below, as a process that trusts the certificates of a file.
fn asks(url: &str, trusted: &str) -> String {
    let test = Command::new(std::env::current_exe().unwrap())
        .args(["https::ask", "--exact", "--ignored", "--nocapture"])
        .env("SSL_CERT_FILE", fixture(trusted))
        .env_remove("SSL_CERT_DIR")
        .env("SERVER", url)
        .output()
        .unwrap();
    assert!(test.status.success(), "{test:?}");
    let out = String::from_utf8(test.stdout).unwrap();
    out.lines().find_map(|line| line.strip_prefix("names: ")).expect("the names").to_owned()
}

#[test]
fn a_server_is_asked_if_the_system_trusts_it() {
    let url = server();
    assert_eq!(asks(&url, "ca.pem"), r#"["f+0x4 symtab"]"#);
    assert_eq!(asks(&url, "other.pem"), "[]");
}

#[test]
#[ignore = "the process that the test before runs"]
fn ask() {
    let cache = tempfile::tempdir().unwrap();
    println!("\nnames: {:?}", names_of(&std::env::var("SERVER").unwrap(), cache.path()));
}
