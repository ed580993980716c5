//! The browser without a terminal: what keys do, and the screens, which `BLESS=1` writes.

use std::io::{empty, sink};
use std::path::{Path, PathBuf};

use perf_profile::report::Options;
use perf_profile::text::is_safe;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::draw::{ScreenLook, draw};
use super::files;
use super::lines::{RowLines, joined, style};
use super::listed::ListedRows;
use super::model::{Browser, BrowserContext, BrowserMode, BrowserStep};
use super::state::{BrowserState, Zoom, ZoomedTask};
use super::with_report;
use crate::args::{Args, Verb};
use crate::outcome::Failure;
use crate::terminal::test_keys::{Random, key, typed};
use crate::{Streams, streams};

/// The folder of captures and goldens.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// The published package has neither captures nor the folder of tests that need them.
fn is_package() -> bool {
    !Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").exists()
}

/// Calls `act` with the browser of a capture, without symbols, as other machines have other files.
pub(super) fn browse(capture: &str, args: &[&str], act: &mut dyn FnMut(&mut Browser<'_>)) {
    browse_named(capture, &[&["--no-symbols"], args].concat(), act);
}

/// The same, with the names of functions that there are.
fn browse_named(capture: &str, args: &[&str], act: &mut dyn FnMut(&mut Browser<'_>)) {
    if is_package() && Path::new(capture).is_relative() {
        return;
    }
    let words = ["perfdata", "report"].iter().chain(args).map(Into::into);
    let Verb::Report(args) = Args::read(words.chain([root().join(capture).into()])).unwrap().verb else {
        panic!("another verb")
    };
    let streams = Streams { input: Box::new(empty()), output: Box::new(sink()), errors: Box::new(sink()) };
    let limits = Options::default().limits;
    let run = || {
        crate::input::read(&args.files.0[0], |reader, memory| {
            with_report(&reader, memory, &args, &args.only, limits, &mut |view| {
                let header = ["first".to_owned(), "second".to_owned()];
                let check_time = |time: &str| match time {
                    "10%-20%" => Ok(()),
                    _ => Err(Failure("no time".into())),
                };
                let outside = BrowserContext { header: &header, check_time: &check_time, more_keys: &[] };
                let mut browser = Browser::new(*view, BrowserState::new(view), outside).unwrap();
                browser.resize(20);
                act(&mut browser);
                Ok(())
            })
        })
    };
    assert!(streams::with(Some(streams), run).is_ok());
}

/// Presses keys; returns what the last one asks for.
pub(super) fn press(browser: &mut Browser<'_>, keys: &str) -> BrowserStep {
    let mut step = BrowserStep::Stay;
    for letter in keys.chars() {
        step = browser.update(key(typed(letter)));
    }
    step
}

/// Returns all lines, as they are printed.
fn lines(browser: &Browser<'_>) -> Vec<String> {
    let style = style(&browser.listed, None);
    let lines = RowLines::new(&browser.listed, &style, browser.view.report.plan().children);
    (0..browser.listed.len()).map(|line| joined(&lines.line(line))).collect()
}

/// Returns the numbers in a column of percentages.
fn percents(browser: &Browser<'_>, column: usize) -> Vec<f64> {
    let of = |line: &String| {
        line.split('%').nth(column)?.split_whitespace().last()?.trim_start_matches('+').parse().ok()
    };
    lines(browser).iter().map(|line| of(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

const CHAINS: &str = "captures/callchain.data";

#[test]
fn a_row_expands_by_levels_and_collapses() {
    browse(CHAINS, &[], &mut |browser| {
        let before = lines(browser);
        assert!(before.len() > 20 && before.iter().all(|line| line.starts_with('+')), "{before:#?}");
        press(browser, "\n");
        let one = lines(browser);
        assert!(one[0].starts_with('-') && one.len() == before.len() + 1, "{one:#?}");
        assert!(one[1].trim_start().starts_with("+ "), "{one:#?}");
        press(browser, "\u{2193}+");
        let two = lines(browser);
        assert!(two.len() > one.len() && two[1].trim_start().starts_with("- "), "{two:#?}");
        // From within the chains, the row is expanded as a whole, or collapsed.
        press(browser, "e");
        assert_eq!((lines(browser), browser.cursor), (before.clone(), 0));
        press(browser, "e");
        let all = lines(browser);
        assert!(all.len() > two.len());
        assert!(!all[..all.len() - before.len()].iter().any(|line| line.trim_start().starts_with('+')));
        press(browser, "E");
        assert!(lines(browser).len() > all.len());
        assert!(lines(browser).iter().all(|line| !line.trim_start().starts_with('+')));
        press(browser, "C");
        assert_eq!(lines(browser), before);
        press(browser, "\u{2193}\u{2193}\nc");
        assert_eq!((lines(browser), browser.cursor), (before, 2));
    });
}

/// As a live view has them after an update.
#[test]
fn rows_stay_expanded_in_other_rows() {
    browse(CHAINS, &[], &mut |browser| {
        press(browser, "\n\u{2193}+");
        let one = lines(browser);
        browser.cursor = one.len() - 1;
        press(browser, "e");
        let expanded = lines(browser);
        assert!(expanded.len() > one.len() && one.len() > 30);
        let again = |browser: &mut Browser<'_>| {
            let open = browser.listed.open_rows();
            browser.listed = ListedRows::new(browser.view, browser.members(), &browser.state);
            let closed = lines(browser);
            browser.listed.reopen(&open);
            closed
        };
        assert!(again(browser).len() < one.len());
        assert_eq!(lines(browser), expanded);
        // In another order.
        press(browser, "r");
        let mut reversed = lines(browser);
        again(browser);
        assert_eq!(lines(browser), reversed);
        reversed.sort();
        let mut sorted = expanded;
        sorted.sort();
        assert_eq!(reversed, sorted);
        press(browser, "C");
        let collapsed = lines(browser);
        again(browser);
        assert_eq!(lines(browser), collapsed);
    });
}

/// Each level of a call graph counts what the text says.
#[test]
fn call_chains_have_the_numbers_of_the_text() {
    browse(CHAINS, &["--percent-limit", "5"], &mut |browser| {
        let mut output = crate::output::Output::new();
        let view = browser.view;
        let style = view.style();
        view.push_table(&mut output, &browser.listed.table, &style).unwrap();
        let text = String::from_utf8(core::mem::take(&mut output.buffer)).unwrap();
        let shares = |line: &str| {
            let word = line.split(&[' ', '-', '+', '|'][..]).find(|word| word.ends_with('%'))?;
            let number: f64 = word.trim_end_matches('%').parse().ok()?;
            Some((number * 100.0).round() as u64)
        };
        let is_chain = |line: &&str| line.starts_with("            ") && line.contains("--");
        let mut expected: Vec<_> = text.lines().filter(is_chain).filter_map(shares).collect();
        press(browser, "E");
        let lines = lines(browser);
        let chains = lines.iter().filter(|line| line.starts_with("   ") && line.contains('%'));
        let mut found: Vec<_> = chains.filter_map(|line| shares(line)).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert!(found.len() > 20, "{found:?}");
        assert_eq!(found, expected);
    });
}

#[test]
fn typing_filters_functions() {
    browse(CHAINS, &[], &mut |browser| {
        let all = lines(browser);
        let with = |part: &str| -> Vec<_> {
            all.iter().filter(|it| it.rsplit("] ").next().unwrap().contains(part)).cloned().collect()
        };
        press(browser, "/14");
        assert_eq!(lines(browser), with("14"));
        assert!(matches!(browser.mode, BrowserMode::Asks(..)));
        press(browser, "2");
        assert_eq!(lines(browser), with("142"));
        assert!(!lines(browser).is_empty() && lines(browser).len() < with("14").len());
        press(browser, "\u{8}");
        assert_eq!(lines(browser), with("14"));
        // The filter before comes back.
        press(browser, "\u{1b}");
        assert_eq!(lines(browser), all);
        press(browser, "/142\n/zzz\u{1b}");
        assert_eq!(lines(browser), with("142"));
        press(browser, "\u{1b}");
        assert_eq!((lines(browser), &browser.mode), (all.clone(), &BrowserMode::Rows));
    });
}

#[test]
fn zooms_hide_the_other_rows_and_end_one_by_one() {
    browse("captures/system_wide.data", &[], &mut |browser| {
        let all = lines(browser);
        let kernel: Vec<_> = all.iter().filter(|line| line.contains("[k] ")).cloned().collect();
        press(browser, "k");
        assert_eq!(lines(browser), kernel);
        press(browser, "t");
        let of_thread = lines(browser);
        let Some(Zoom::Thread(ZoomedTask::Name(comm))) = browser.state.zooms.last() else {
            panic!("no thread")
        };
        let comm = String::from_utf8(comm.clone()).unwrap();
        assert!(!of_thread.is_empty() && of_thread.len() < kernel.len(), "{comm}");
        assert!(of_thread.iter().all(|line| line.contains(&comm)), "{of_thread:#?}");
        press(browser, "d");
        assert!(lines(browser).iter().all(|line| line.contains("[kernel.kallsyms]")));
        assert_eq!(browser.state.zooms.len(), 3);
        press(browser, "d\u{1b}");
        assert_eq!(lines(browser), kernel);
        press(browser, "\u{1b}");
        assert_eq!(lines(browser), all);
        assert_eq!(press(browser, "\u{1b}"), BrowserStep::Stay);
        assert_eq!(browser.mode, BrowserMode::Leaves);
        assert_eq!(press(browser, "n"), BrowserStep::Stay);
        assert_eq!(press(browser, "\u{1b}\u{1b}"), BrowserStep::Quit);
    });
}

#[test]
fn percentages_are_of_all_or_of_what_is_shown() {
    browse("captures/system_wide.data", &[], &mut |browser| {
        let sum = |browser: &Browser<'_>| percents(browser, 0).iter().sum::<f64>();
        assert!((sum(browser) - 100.0).abs() < 1.0, "{}", sum(browser));
        press(browser, "k");
        let kernel = sum(browser);
        assert!(kernel < 99.0, "{kernel}");
        press(browser, "F");
        assert!((sum(browser) - 100.0).abs() < 1.0, "{}", sum(browser));
        press(browser, "F");
        assert!((sum(browser) - kernel).abs() < 1e-9);
    });
}

#[test]
fn rows_are_sorted_by_each_column() {
    browse(CHAINS, &["--sort", "dso,sym"], &mut |browser| {
        let before = lines(browser);
        press(browser, ">");
        let own = percents(browser, 1);
        assert!(own.is_sorted_by(|one, other| one >= other) && own[0] > 0.0, "{own:?}");
        press(browser, "R");
        assert!(percents(browser, 1).is_sorted());
        press(browser, "R>");
        let dso =
            |line: &String| line.split('%').nth(2).unwrap().split_whitespace().next().unwrap().to_owned();
        let mut dsos: Vec<_> = lines(browser).iter().map(dso).collect();
        // What is unknown comes last.
        dsos.retain(|dso| dso != "[unknown]");
        assert!(dsos.is_sorted() && dsos[0] != dsos[dsos.len() - 1], "{dsos:?}");
        // There is nothing beyond the last column, nor before the first.
        press(browser, ">>>>");
        press(browser, "<<<<<<<");
        assert_eq!(lines(browser), before);
    });
}

#[test]
fn rows_below_a_limit_are_left_out() {
    browse(CHAINS, &[], &mut |browser| {
        let all = percents(browser, 0);
        press(browser, "L5\n");
        let expected: Vec<_> = all.iter().copied().filter(|&percent| percent >= 5.0).collect();
        assert!(!expected.is_empty() && expected.len() < all.len());
        assert_eq!(percents(browser, 0), expected);
        press(browser, "E");
        assert!(lines(browser).iter().filter(|it| it.contains('%')).all(|it| !it.contains("- 1.")));
        press(browser, "CL101\n");
        assert!(browser.message.contains("from 0 to 100"), "{}", browser.message);
        press(browser, "L0\n");
        assert_eq!(percents(browser, 0), all);
    });
}

#[test]
fn a_time_span_is_counted_anew() {
    browse(CHAINS, &[], &mut |browser| {
        assert_eq!(press(browser, "Tnever\n"), BrowserStep::Stay);
        assert_eq!((&*browser.message, browser.state.time()), ("no time", None));
        assert_eq!(press(browser, "T10%-20%\n"), BrowserStep::Count);
        assert_eq!(browser.state.time(), Some("10%-20%"));
        assert_eq!(browser.state.zooms, [Zoom::Time("10%-20%".into())]);
        assert_eq!(press(browser, "\u{1b}"), BrowserStep::Count);
        assert_eq!(browser.state.time(), None);
    });
}

/// The capture of an Android device has the names of its functions.
const NAMED: &str = "foreign/simpleperf/perf_display_bitmaps.data";

#[test]
fn the_function_of_a_line_is_annotated() {
    browse_named(NAMED, &["-g", "caller"], &mut |browser| {
        let mut lines_with_functions = 0;
        press(browser, "E");
        for (line, text) in lines(browser).iter().enumerate().take(500) {
            (browser.cursor, browser.top) = (line, 0);
            match browser.function() {
                Ok(function) => {
                    let name = crate::escape::OneLine(&function.symbol).to_string();
                    assert!(text.contains(&name) && !function.dso.is_empty(), "{text}: {function:?}");
                    assert!(function.offset.is_some() && function.address.is_none());
                    assert_eq!(press(browser, "a"), BrowserStep::Annotate);
                    lines_with_functions += 1;
                }
                Err(why) => {
                    assert_eq!(press(browser, "a"), BrowserStep::Stay);
                    assert_eq!(browser.message, why);
                }
            }
        }
        assert!(lines_with_functions > 100, "{lines_with_functions}");
    });
    for (args, why) in [(&[][..], "has no name"), (&["--sort", "comm", "-g", "none"], "add sym to --sort")] {
        browse(CHAINS, args, &mut |browser| {
            assert_eq!(press(browser, "a"), BrowserStep::Stay);
            assert!(browser.message.contains(why), "{}", browser.message);
        });
    }
}

#[test]
fn events_are_switched_and_listed() {
    browse("captures/everything.data", &[], &mut |browser| {
        assert_eq!(browser.tables.len(), 2);
        let first = lines(browser);
        press(browser, "\t");
        let second = lines(browser);
        assert_ne!(first, second);
        press(browser, "\t");
        assert_eq!(lines(browser), first);
        press(browser, "l\u{2193}\n");
        assert_eq!(lines(browser), second);
        press(browser, "\u{1b}");
        assert_eq!(browser.mode, BrowserMode::Events(1));
        assert_eq!(press(browser, "\u{1b}\u{1b}"), BrowserStep::Quit);
    });
    // By each event of a group.
    browse("captures/group_read.data", &["--no-children"], &mut |browser| {
        for member in 0..2 {
            press(browser, &member.to_string());
            let percents = percents(browser, member);
            assert!(percents.is_sorted_by(|one, other| one >= other), "{percents:?}");
        }
        press(browser, "7");
        assert!(browser.message.contains("no such event"));
    });
}

#[test]
fn the_help_and_the_header_are_texts() {
    browse(CHAINS, &[], &mut |browser| {
        browser.resize(10);
        press(browser, "?");
        let BrowserMode::Text(help, 0) = &browser.mode else { panic!("{:?}", browser.mode) };
        assert!(help.iter().any(|line| line.contains("Zoom into the thread")));
        press(browser, "\u{2193}\u{2193}");
        assert!(matches!(browser.mode, BrowserMode::Text(_, 2)));
        press(browser, " q");
        assert_eq!(browser.mode, BrowserMode::Rows);
        press(browser, "i");
        assert_eq!(browser.mode, BrowserMode::Text(vec!["first".into(), "second".into()], 0));
    });
}

#[test]
fn ctrl_c_leaves_from_everywhere() {
    browse(CHAINS, &[], &mut |browser| {
        for keys in ["", "?", "/x", "T", "\u{1b}"] {
            press(browser, keys);
            let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
            assert_eq!(browser.update(key), BrowserStep::Quit, "{keys:?}");
        }
    });
}

fn look() -> ScreenLook {
    ScreenLook { has_colors: true, quality: "the quality".into() }
}

/// Returns the text of a screen.
pub(super) fn screen(terminal: &mut Terminal<TestBackend>, browser: &mut Browser<'_>) -> String {
    terminal.draw(|frame| draw(browser, &look(), frame.area(), frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width);
    let text = |row: &[ratatui_core::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
    rows.map(|row| text(row).trim_end().to_owned() + "\n").collect()
}

/// The name of the golden, the capture, options and keys.
const SCREENS: [(&str, &str, &[&str], &str); 6] = [
    ("rows", CHAINS, &[], ""),
    ("chains", CHAINS, &[], "\n\u{2193}\n"),
    ("filter", CHAINS, &["--no-children", "--sort", "sym"], "/14"),
    ("help", CHAINS, &[], "?"),
    ("group", "captures/group_read.data", &["--no-children"], "d>"),
    ("events", "captures/everything.data", &[], "l"),
];

#[test]
fn screens_are_as_they_were() {
    let folder = root().join("goldens/browser");
    let mut differences = String::new();
    for (name, capture, args, keys) in SCREENS {
        browse(capture, args, &mut |browser| {
            let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
            screen(&mut terminal, browser);
            press(browser, keys);
            let mut now = screen(&mut terminal, browser);
            // A smaller terminal, and the first one again.
            terminal.backend_mut().resize(40, 10);
            now += "\n40 x 10:\n";
            now += &screen(&mut terminal, browser);
            terminal.backend_mut().resize(80, 24);
            let again = screen(&mut terminal, browser);
            assert!(now.starts_with(&again), "{name}: {again}");
            let mut small = Terminal::new(TestBackend::new(40, 10)).unwrap();
            assert!(now.ends_with(&screen(&mut small, browser)), "{name}");
            differences += &compared(&folder, name, &now);
        });
    }
    assert!(differences.is_empty(), "write the goldens with BLESS=1:\n{differences}");
}

fn compared(folder: &Path, name: &str, now: &str) -> String {
    let path = folder.join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&path, now).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    if before == now { String::new() } else { format!("{name}:\n{now}\n") }
}

#[test]
fn colors_are_those_of_percentages_or_none() {
    use ratatui_core::style::Color;
    browse(CHAINS, &[], &mut |browser| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        for has_colors in [true, false] {
            let look = ScreenLook { has_colors, ..look() };
            terminal.draw(|frame| draw(browser, &look, frame.area(), frame.buffer_mut())).unwrap();
            let cells = &terminal.backend().buffer().content;
            let has = |color| cells.iter().any(|cell| cell.fg == color);
            assert_eq!((has(Color::Red), has(Color::Green)), (has_colors, has_colors));
            let others = [Color::Reset, Color::Red, Color::Green];
            assert!(cells.iter().all(|cell| others.contains(&cell.fg) && cell.bg == Color::Reset));
        }
    });
}

/// Any keys on any screen: nothing panics, and a line that is there is selected.
#[test]
fn any_keys_on_any_screen() {
    const KEYS: &[u8] = b"\n\n\n++eEcCatdk/14\n/a\nFHL2\n<>R0189lPfi?h q\taSVrsmTx\n\x1b\x1b\x7f";
    let mut random = Random::new();
    let captures = [
        (CHAINS, &[][..]),
        ("captures/everything.data", &[]),
        ("captures/group_read.data", &[]),
        (CHAINS, &["-g", "fractal,1,count"]),
        ("synthetic/script_fields.le.data", &["-b"]),
        ("captures/raw.data", &[]),
    ];
    for (capture, args) in captures {
        browse(capture, args, &mut |browser| {
            for _ in 0..400 {
                let code = match random.below(6) {
                    0 => KeyCode::PageDown,
                    1 => KeyCode::Up,
                    2 => KeyCode::End,
                    _ => random.typed(KEYS),
                };
                browser.update(key(code));
                let (width, height) = (1 + random.below(120) as u16, 1 + random.below(40) as u16);
                let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                let screen = screen(&mut terminal, browser);
                assert!(screen.chars().all(|it| it == '\n' || is_safe(it)), "{screen:?}");
                let len = browser.listed.len();
                assert!(browser.cursor < len || (browser.cursor, len) == (0, 0));
                assert!(browser.top <= browser.cursor);
                if height > 4 && browser.mode == BrowserMode::Rows {
                    assert!(browser.cursor - browser.top < usize::from(height));
                }
            }
        });
    }
}

/// Numbers count from 0 on, and no file is overwritten.
#[test]
fn files_get_the_first_number_that_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: u32| folder.path().join(format!("x.{number}")).to_str().unwrap().to_owned();
    std::fs::write(name(1), "before").unwrap();
    for (number, text) in [(0, "a"), (2, "b")] {
        assert_eq!(files::write_new(&name, text.as_bytes()).unwrap(), name(number));
        assert_eq!(std::fs::read_to_string(name(number)).unwrap(), text);
    }
    assert_eq!(std::fs::read_to_string(name(1)).unwrap(), "before");
    let Err(Failure(why)) = files::write_new(&|_| name(1), b"c") else { panic!("written") };
    assert!(why.contains("too many"), "{why}");
}
