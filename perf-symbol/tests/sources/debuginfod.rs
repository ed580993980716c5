//! Files from a debuginfod server, which each test runs for itself.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use perf_session::BuildId;
use perf_symbol::{Cancellation, Debuginfod, DebuginfodOptions, Files, NoSymbols, ReadFiles, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{Records, names, options};

pub(crate) const ID: [u8; 8] = [0xab, 1, 2, 3, 4, 5, 6, 7];
const PATH: &str = "ab01020304050607";

/// What a server answers to the request of a path; a path that is not listed is not found.
#[derive(Clone)]
pub(crate) enum Answer {
    File(Vec<u8>),
    /// A file whose size is not announced.
    Unannounced(Vec<u8>),
    /// Only the first bytes of a file, and then nothing.
    Stalled(Vec<u8>),
    Status(&'static str),
}

/// A server, and the paths that it was asked for.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn new(answers: &[(&str, Answer)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers: Vec<_> =
            answers.iter().map(|(path, answer)| ((*path).to_owned(), answer.clone())).collect();
        let log = Arc::clone(&asked);
        // It ends with the test program.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answers, log) = (answers.clone(), Arc::clone(&log));
                thread::spawn(move || serve(stream.unwrap(), &answers, &log));
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, answers: &[(String, Answer)], log: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
    let answer = answers.iter().find(|(it, _)| *it == path).map(|(_, answer)| answer.clone());
    log.lock().unwrap().push(path);
    let (head, body) = match &answer {
        Some(Answer::File(body)) => (format!("200 OK\r\nContent-Length: {}", body.len()), &body[..]),
        Some(Answer::Stalled(body)) => ("200 OK\r\nContent-Length: 1000000".into(), &body[..]),
        Some(Answer::Unannounced(body)) => ("200 OK".into(), &body[..]),
        Some(Answer::Status(status)) => (format!("{status}\r\nContent-Length: 0"), &[][..]),
        None => ("404 Not Found\r\nContent-Length: 0".into(), &[][..]),
    };
    // The client may have gone.
    let head = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
    let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    if body.len() > 1 << 20 {
        let end = if sent.is_err() { "left early" } else { "all sent" };
        log.lock().unwrap().push(end.into());
    }
    if let Some(Answer::Stalled(_)) = answer {
        // Until the client gives up.
        lines.for_each(drop);
    }
}

pub(crate) fn file(name: &'static str, id: &[u8]) -> Vec<u8> {
    Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, name)]).build_id(id).build()
}

/// The names at an address of a file that is nowhere on this machine, and why there are none.
pub(crate) fn found(
    urls: &str,
    cache: &Path,
    change: impl FnOnce(&mut DebuginfodOptions),
) -> (Vec<String>, Option<NoSymbols>) {
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/nowhere/a").session();
    let mut servers = DebuginfodOptions::from_env().with_urls(urls);
    servers.cache = Some(cache.into());
    servers.timeout = Duration::from_secs(20);
    change(&mut servers);
    let files = Debuginfod::new(ReadFiles, servers);
    let mut it = Symbolizer::with_files(options(), Arc::new(files));
    let names = names(&mut it, &session, 5, 0x7000_1014);
    (names, it.lookups()[0].why)
}

pub(crate) fn names_of(urls: &str, cache: &Path) -> Vec<String> {
    found(urls, cache, |_| {}).0
}

pub(crate) fn path(kind: &str) -> String {
    format!("/buildid/{PATH}/{kind}")
}

/// The names of the files in the cache.
fn kept(cache: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(cache.join(PATH)) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_executable_is_fetched_and_kept() {
    let server = Server::new(&[(&path("executable"), Answer::File(file("f", &ID)))]);
    let cache = tempfile::tempdir().unwrap();
    assert_eq!(names_of(&server.url, cache.path()), ["f+0x4 symtab"]);
    assert_eq!(server.asked(), [path("executable"), path("debuginfo")]);
    assert_eq!(kept(cache.path()), ["debuginfo", "executable"]);
    assert_eq!(fs::metadata(cache.path().join(PATH).join("debuginfo")).unwrap().len(), 0, "a miss");
    // Neither the file nor the miss is asked for again, and the cache serves without a server.
    assert_eq!(names_of(&server.url, cache.path()), ["f+0x4 symtab"]);
    assert_eq!(server.asked().len(), 2);
    assert_eq!(names_of("", cache.path()), ["f+0x4 symtab"]);
    // Without a URL, nothing is asked for.
    let cache = tempfile::tempdir().unwrap();
    assert_eq!(found("", cache.path(), |_| {}), (vec![], Some(NoSymbols::NotFound)));
    assert!(kept(cache.path()).is_empty());
}

#[test]
fn the_debug_file_alone_is_fetched() {
    let server = Server::new(&[(&path("debuginfo"), Answer::Unannounced(file("g", &ID)))]);
    let cache = tempfile::tempdir().unwrap();
    // Two servers, of which the first does not answer.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let urls = format!("http://{gone} {}/", server.url);
    assert_eq!(names_of(&urls, cache.path()), ["g+0x4 symtab"]);
    assert_eq!(
        kept(cache.path()),
        ["debuginfo"],
        "that no server has a file is not known if one does not answer"
    );
}

#[test]
fn a_miss_is_believed_for_a_time() {
    let server = Server::new(&[(&path("executable"), Answer::File(file("f", &ID)))]);
    let cache = tempfile::tempdir().unwrap();
    let miss = cache.path().join(PATH).join("executable");
    fs::create_dir_all(miss.parent().unwrap()).unwrap();
    let age = |seconds| {
        let file = fs::File::create(&miss).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    age(500);
    assert_eq!(found(&server.url, cache.path(), |_| {}), (vec![], Some(NoSymbols::NotFound)));
    assert!(!server.asked().contains(&path("executable")));
    fs::write(cache.path().join("cache_miss_s"), "400\n").unwrap();
    assert_eq!(names_of(&server.url, cache.path()), ["f+0x4 symtab"]);
    fs::remove_file(cache.path().join("cache_miss_s")).unwrap();
    age(700);
    assert_eq!(names_of(&server.url, cache.path()), ["f+0x4 symtab"]);
}

#[test]
fn a_file_of_another_build_id_is_not_kept() {
    let mut other = ID;
    other[7] = 9;
    for wrong in [file("f", &other), b"hello".to_vec()] {
        let server = Server::new(&[(&path("executable"), Answer::File(wrong.clone()))]);
        let cache = tempfile::tempdir().unwrap();
        let expected = Some(NoSymbols::NotFetched(std::io::ErrorKind::InvalidData));
        assert_eq!(found(&server.url, cache.path(), |_| {}), (vec![], expected));
        assert_eq!(kept(cache.path()), ["debuginfo"]);
        // One that is in the cache is replaced.
        fs::write(cache.path().join(PATH).join("executable"), &wrong).unwrap();
        let right = Server::new(&[(&path("executable"), Answer::File(file("f", &ID)))]);
        assert_eq!(names_of(&right.url, cache.path()), ["f+0x4 symtab"]);
    }
}

#[test]
fn errors_of_the_server_are_reported() {
    let server = Server::new(&[(&path("executable"), Answer::Status("503 Service Unavailable"))]);
    let cache = tempfile::tempdir().unwrap();
    let (names, why) = found(&server.url, cache.path(), |_| {});
    assert!(names.is_empty() && matches!(why, Some(NoSymbols::NotFetched(_))), "{why:?}");
    assert!(kept(cache.path()).is_empty(), "not noted as a miss");
    assert_eq!(server.asked(), [path("executable")], "not asked again");
    let https = match cfg!(feature = "https") {
        true => std::io::ErrorKind::ConnectionRefused,
        false => std::io::ErrorKind::Unsupported,
    };
    assert_eq!(found("https://127.0.0.1:1", cache.path(), |_| {}).1, Some(NoSymbols::NotFetched(https)));
}

#[test]
fn a_slow_answer_is_given_up() {
    let server = Server::new(&[(&path("executable"), Answer::Stalled(file("f", &ID)))]);
    let cache = tempfile::tempdir().unwrap();
    let (names, why) =
        found(&server.url, cache.path(), |options| options.timeout = Duration::from_millis(300));
    assert_eq!((names, why), (vec![], Some(NoSymbols::NotFetched(std::io::ErrorKind::TimedOut))));
    assert!(!kept(cache.path()).contains(&"executable".into()));
    let (_, why) =
        found(&server.url, cache.path(), |options| options.max_time = Some(Duration::from_millis(300)));
    assert_eq!(why, Some(NoSymbols::NotFetched(std::io::ErrorKind::TimedOut)));
}

/// Below the limit, at it, and above it, whether the size is announced or not.
#[test]
fn a_file_that_is_too_large_is_not_kept() {
    let elf = file("f", &ID);
    for answer in [Answer::File(elf.clone()), Answer::Unannounced(elf.clone())] {
        let server = Server::new(&[(&path("executable"), answer)]);
        for (less, is_found) in [(-1, true), (0, true), (1, false)] {
            let cache = tempfile::tempdir().unwrap();
            let size = elf.len() as i64 - less;
            let (names, why) = found(&server.url, cache.path(), |it| it.max_size = size as u64);
            assert_eq!(!names.is_empty(), is_found);
            let expected = (!is_found).then_some(NoSymbols::NotFetched(std::io::ErrorKind::FileTooLarge));
            assert_eq!(why, expected);
            assert_eq!(kept(cache.path()).contains(&"executable".into()), is_found);
        }
    }
}

/// What is far larger is not read to its end.
#[test]
fn a_large_file_is_given_up_early() {
    let large = vec![0; 64 << 20];
    for answer in [Answer::File(large.clone()), Answer::Unannounced(large.clone())] {
        let server = Server::new(&[(&path("executable"), answer)]);
        let cache = tempfile::tempdir().unwrap();
        let (_, why) = found(&server.url, cache.path(), |it| it.max_size = 1000);
        assert_eq!(why, Some(NoSymbols::NotFetched(std::io::ErrorKind::FileTooLarge)));
        // The server notices it when it sends more.
        while !server.asked().contains(&"left early".into()) {
            assert!(!server.asked().contains(&"all sent".into()));
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn files_of_this_machine_come_first() {
    let server = Server::new(&[(&path("executable"), Answer::File(file("f", &ID)))]);
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("a");
    fs::write(&local, file("local", &ID)).unwrap();
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, local.to_str().unwrap()).session();
    let mut servers = DebuginfodOptions::from_env().with_urls(&server.url);
    servers.cache = Some(folder.path().join("cache"));
    let mut it = Symbolizer::with_files(options(), Arc::new(Debuginfod::new(ReadFiles, servers)));
    assert_eq!(names(&mut it, &session, 5, 0x7000_1014), ["local+0x4 symtab"]);
    assert!(!server.asked().contains(&path("executable")));
}

#[test]
fn a_download_that_is_cancelled_is_left_early_and_tried_again() {
    let mut large = file("large", &ID);
    large.resize(32 << 20, 0);
    let executable = path("executable");
    let server = Server::new(&[(&executable, Answer::File(large))]);
    let cache = tempfile::tempdir().unwrap();
    let mut servers = DebuginfodOptions::from_env().with_urls(&server.url);
    (servers.cache, servers.timeout) = (Some(cache.path().into()), Duration::from_secs(20));
    let mut it = Symbolizer::with_files(options(), Arc::new(Debuginfod::new(ReadFiles, servers)));
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/nowhere/a").session();
    let asked = Arc::clone(&server.asked);
    it.set_cancellation(Cancellation::when(move || !asked.lock().unwrap().is_empty()));
    assert_eq!(names(&mut it, &session, 5, 0x7000_1014), [""; 0]);
    assert_eq!(kept(cache.path()), [""; 0]);
    for _ in 0..500 {
        if server.asked().len() > 1 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.asked(), [executable.as_str(), "left early"]);
    // The server has not failed.
    it.set_cancellation(Cancellation::new());
    assert_eq!(names(&mut it, &session, 5, 0x7000_1014), ["large+0x4 symtab"]);
}

#[test]
fn a_source_is_fetched_and_kept() {
    let text = b"int main;\n";
    let answers = [
        (&*path("source/usr/src/a%20b.c"), Answer::File(text.to_vec())),
        (&path("source/large.c"), Answer::File(vec![0; 101])),
    ];
    let server = Server::new(&answers);
    let cache = tempfile::tempdir().unwrap();
    let mut servers = DebuginfodOptions::from_env().with_urls(&server.url);
    servers.cache = Some(cache.path().into());
    servers.timeout = Duration::from_secs(20);
    let files = Debuginfod::new(ReadFiles, servers);
    let fetch = |path: &str| {
        let at = files.fetch_source(BuildId::new(&ID), path.as_bytes(), 100, &Cancellation::new());
        at.and_then(|at| files.read(&at, 100)).map(|bytes| bytes.to_vec()).map_err(|error| error.kind())
    };
    // The paths are the same by RFC 3986, and the second one is in the cache.
    assert_eq!(fetch("/usr//src/./a b.c").unwrap(), text);
    assert_eq!(fetch("/usr/x/../src/a b.c").unwrap(), text);
    assert_eq!(server.asked(), [path("source/usr/src/a%20b.c")]);
    assert_eq!(fetch("/other.c"), Err(ErrorKind::NotFound));
    assert_eq!(fetch("/other.c"), Err(ErrorKind::NotFound), "a miss, which is kept");
    assert_eq!(fetch("/large.c"), Err(ErrorKind::FileTooLarge));
    assert_eq!(fetch("relative.c"), Err(ErrorKind::NotFound));
    assert_eq!(kept(cache.path()), ["source##other.c", "source##usr##src##a b.c"]);
    assert_eq!(server.asked()[1..], [path("source/other.c"), path("source/large.c")]);
}
