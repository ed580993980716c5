//! Files of another machine, which are asked for by messages. What is not there differs from what did not come.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use perf_symbol::{FileBytes, Files, NoSymbols, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{Records, names, options};

const ID: [u8; 4] = [0xab, 1, 2, 3];

type Answer = io::Result<Vec<u8>>;

/// The client: a question is a path and where to send the answer.
struct Remote {
    questions: Mutex<Sender<(PathBuf, u64, Sender<Answer>)>>,
}

impl Remote {
    /// Starts a server with some files. Those without bytes it cannot read in time.
    fn new(files: HashMap<PathBuf, Option<Vec<u8>>>) -> Self {
        let (questions, asked) = mpsc::channel::<(PathBuf, u64, Sender<Answer>)>();
        thread::spawn(move || {
            for (path, limit, answer) in asked {
                let _ = answer.send(match files.get(&path) {
                    None => Err(io::ErrorKind::NotFound.into()),
                    Some(None) => Err(io::ErrorKind::TimedOut.into()),
                    Some(Some(bytes)) if bytes.len() as u64 > limit => {
                        Err(io::ErrorKind::FileTooLarge.into())
                    }
                    Some(Some(bytes)) => Ok(bytes.clone()),
                });
            }
        });
        Self { questions: Mutex::new(questions) }
    }
}

impl Files for Remote {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let gone = || io::Error::from(io::ErrorKind::ConnectionReset);
        let (answer, answered) = mpsc::channel();
        let questions = self.questions.lock().map_err(|_| gone())?;
        questions.send((path.into(), limit, answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?.map(FileBytes::new)
    }
}

fn found(files: &[(&str, Option<Vec<u8>>)]) -> (Vec<String>, Option<NoSymbols>) {
    let files = files.iter().map(|(path, bytes)| (path.into(), bytes.clone())).collect();
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session();
    let mut it = Symbolizer::with_files(options(), Arc::new(Remote::new(files)));
    let names = names(&mut it, &session, 5, 0x7000_1014);
    (names, it.lookups()[0].why)
}

#[test]
fn files_of_another_machine() {
    const CACHED: &str = "/cache/.build-id/ab/010203/elf";
    let elf = Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, "f")]).build_id(&ID).build();
    let name = vec!["f+0x4 symtab".to_owned()];
    assert_eq!(found(&[("/bin/a", Some(elf.clone()))]), (name.clone(), None));
    assert_eq!(found(&[]), (vec![], Some(NoSymbols::NotFound)));
    let did_not_come = (vec![], Some(NoSymbols::Unreadable(io::ErrorKind::TimedOut)));
    assert_eq!(found(&[("/bin/a", None)]), did_not_come);
    // The right file is perhaps the one that did not come.
    assert_eq!(found(&[(CACHED, None)]), did_not_come);
    assert_eq!(found(&[(CACHED, None), ("/bin/a", Some(elf))]), (name, None));
}
