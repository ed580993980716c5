//! Names that would do something to a terminal.

use std::io::Cursor;
use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::LittleEndian;
use perf_abi::event::EventType;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{Comm, Mmap};
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use super::lines::title;
use super::tests::{browse, press, screen};
use perf_profile::text::is_safe;

/// A clear screen, a line end, and letters that turn the direction of text.
const NAME: &str = "a\u{1b}[2Jb\r\n\u{202e}c";

/// Writes a capture of samples of a thread in a file, which both have the name.
fn capture(path: &Path, samples: u64) {
    let sample_type = SampleType::IP | SampleType::TID;
    let flags = AttrFlags::COMM | AttrFlags::MMAP;
    let attr = Attr { kind: EventType::SOFTWARE, sample_type, flags, ..Attr::default() };
    let event = EventFields { attr, ..EventFields::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &WriteOptions::default()).unwrap();
    let layout = SampleLayout::new(&attr).unwrap();
    let (pid, tid) = (7, 7);
    let file = format!("/{NAME}.so");
    let map = Mmap { pid, tid, addr: 0x1000, len: 1 << 32, pgoff: 0, filename: file.as_bytes() };
    for record in [Record::Comm(Comm { pid, tid, comm: NAME.as_bytes() }), Record::Mmap(map)] {
        let mut bytes = Vec::new();
        let trailer = SampleIdFields::default();
        // PERF_RECORD_MISC_USER
        write::record::<LittleEndian>(&mut bytes, &layout, Misc(2), &record, &trailer).unwrap();
        writer.record(&bytes).unwrap();
    }
    for number in 0..samples {
        let fields = SampleFields {
            ip: Some(0x1000 + 16 * number),
            pid_tid: Some((pid, tid)),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &layout, Misc(2), &fields).unwrap();
        writer.record(&bytes).unwrap();
    }
    std::fs::write(path, writer.finish().unwrap().into_inner()).unwrap();
}

#[test]
fn names_are_escaped_on_all_screens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    capture(&path, 5);
    browse(path.to_str().unwrap(), &[], &mut |browser| {
        // Rows, zooms into the thread and the file, a filter and a span of time, each as typed.
        for keys in ["", "t", "d", "/\u{1b}\u{202e}", "\nT\u{202e}[2J", "\u{1b}l", "\n?"] {
            press(browser, keys);
            let mut terminal = Terminal::new(TestBackend::new(120, 12)).unwrap();
            let screen = screen(&mut terminal, browser);
            assert!(screen.chars().all(|it| it == '\n' || is_safe(it)), "{keys:?}: {screen:?}");
            assert_eq!(screen.lines().count(), 12);
        }
        let escaped = r"a\u{1b}[2Jb\r\n\u{202e}c";
        press(browser, "\u{1b}");
        let title = title(browser);
        assert!(title.contains(&format!("Thread: {escaped}")), "{title}");
        assert!(title.contains(&format!("DSO: {escaped}.so")), "{title}");
    });
}

/// A width of a format string above 65,535 would panic.
#[test]
fn names_of_any_length_are_shown() {
    for capture in ["hostile/comm_esc.data", "hostile/dso_esc.data", "hostile/ksym_esc.data"] {
        browse(capture, &["--sort", "comm,dso,sym"], &mut |browser| {
            for keys in ["", "t", "d", "+", "E"] {
                press(browser, keys);
                let mut terminal = Terminal::new(TestBackend::new(120, 12)).unwrap();
                assert_eq!(screen(&mut terminal, browser).lines().count(), 12, "{keys:?}");
                let printed = super::files::text(browser, usize::MAX);
                let mut rows = printed.lines().filter(|line| !line.starts_with('#'));
                assert!(rows.all(|row| row.chars().count() < 20_000), "{keys:?}");
            }
        });
    }
}
