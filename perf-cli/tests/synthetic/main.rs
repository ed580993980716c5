//! Captures that no available machine can record, made by the encoder in both byte orders, and big-endian twins of real
//! captures.
//!
//! The files are committed in `testdata/synthetic`. A test builds each of them and compares. `BLESS=1` writes them.

mod file;
mod records;
mod samples;
mod twin;

use std::fs;
use std::path::{Path, PathBuf};

use perf_abi::endian::{BigEndian, LittleEndian};
use perf_abi::record::{CpuMode, Misc};

/// The `misc` of an event in the kernel.
const KERNEL: Misc = Misc(CpuMode::KERNEL.0 as u16);
/// The `misc` of an event in user space.
const USER: Misc = Misc(CpuMode::USER.0 as u16);

macro_rules! captures {
    (twins { $($twin:ident: $capture:literal;)* } made { $($module:ident::$name:ident;)* }) => {
        /// The files that are built here.
        const FILES: &[&str] = &[
            $(concat!(stringify!($twin), ".be.data"),)*
            $(concat!(stringify!($name), ".le.data"), concat!(stringify!($name), ".be.data"),)*
        ];

        $(
            #[test]
            fn $twin() {
                let original = fs::read(testdata::path($capture)).unwrap();
                check(concat!(stringify!($twin), ".be.data"), &twin::of(&original));
            }
        )*

        $(
            #[test]
            fn $name() {
                check(concat!(stringify!($name), ".le.data"), &$module::$name::<LittleEndian>());
                check(concat!(stringify!($name), ".be.data"), &$module::$name::<BigEndian>());
            }
        )*
    };
}

captures! {
    twins {
        callchain: "callchain.data";
        group_read: "group_read.data";
        plain: "plain.data";
    }
    made {
        records::attr_newest;
        records::attr_oldest;
        records::aux_area;
        samples::aux_sample;
        records::auxtrace;
        samples::branches;
        samples::branches_open;
        samples::contexts;
        samples::deferred;
        samples::dispatch;
        samples::memory;
        records::mmap2_build_id;
        records::mmap2_old;
        records::pipe_records;
        samples::read_formats;
        samples::read_group;
        records::read_records;
        samples::read_single;
        records::records;
        samples::registers;
        samples::script_fields;
        samples::stack_zero;
        records::text_poke;
        records::unknown;
        records::user_records;
        records::user_records_new;
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/synthetic")
}

/// Returns whether to write the files instead of comparing them.
fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares `bytes` with the file `name`. With `BLESS=1`, writes it.
fn check(name: &str, bytes: &[u8]) {
    let path = folder().join(name);
    if is_blessing() {
        fs::write(&path, bytes).unwrap();
    }
    let committed = fs::read(&path).unwrap_or_default();
    let same = committed.iter().zip(bytes).take_while(|(committed, made)| committed == made).count();
    assert!(
        committed == bytes,
        "{name}: differs from the file of {} bytes at byte {same} of {}; write it with BLESS=1",
        committed.len(),
        bytes.len()
    );
}

#[test]
fn every_file_is_made_here() {
    if is_blessing() {
        // Other tests write their files at the same time.
        return;
    }
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut files: Vec<_> = fs::read_dir(folder()).unwrap().map(name).collect();
    files.sort_unstable();
    let mut made = FILES.to_vec();
    made.sort_unstable();
    assert_eq!(files, made);
}
