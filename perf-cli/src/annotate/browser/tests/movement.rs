//! Movement: hot instructions, jumps, calls, searches.

use super::super::function_list::{FunctionList, HotFunction, ListStep};
use super::super::request::FunctionRequest;
use super::super::search::{FoundRow, find};
use super::super::view::{AnnotationView, ViewStep};
use super::made::{START, instruction, made, place, press, selected, total, view};
use crate::terminal::test_keys::key;
use perf_profile::annotation::Annotation;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::crossterm::event::KeyCode;

#[test]
fn hot_instructions_follow_each_other() {
    let mut view = view(made());
    let mut texts = |keys: &str| -> Vec<String> {
        let of = |it: char| {
            press(&mut view, &it.to_string());
            selected(&mut view).split(": ").nth(1).unwrap().trim_matches(&['→', ' '][..]).to_owned()
        };
        keys.chars().map(of).collect()
    };
    assert_eq!(texts("H\t\t\t"), ["call 2000 <add>", "imul %rdi,%rdi", "cmp %rbx,%rax", "call 2000 <add>"]);
    assert_eq!(texts("\u{b}\u{b}"), ["cmp %rbx,%rax", "imul %rdi,%rdi"]);
    // By the number of samples, the order is another.
    assert_eq!(texts("bH\t")[1..], ["imul %rdi,%rdi", "call 2000 <add>"]);
}

#[test]
fn enter_goes_to_targets() {
    let mut view = view(made());
    assert_eq!(
        press(&mut view, "\n"),
        ViewStep::Follow(FunctionRequest {
            dso: b"/usr/bin/workload".to_vec(),
            symbol: b"add".to_vec(),
            address: Some(0x2000),
            offset: None,
        })
    );
    assert_eq!(press(&mut view, "/jne\n\n"), ViewStep::Stay);
    assert!(selected(&mut view).contains("imul"));
    assert_eq!(press(&mut view, "\n"), ViewStep::Stay);
    assert!(view.message.contains("can be followed"), "{}", view.message);
    assert_eq!(press(&mut view, "q"), ViewStep::Back);
    assert_eq!(press(&mut view, "\u{1b}"), ViewStep::Back);
}

#[test]
fn a_followed_function_looks_the_same() {
    let mut caller = view(made());
    press(&mut caller, "spe");
    let request = |address| FunctionRequest { address: Some(address), ..FunctionRequest::default() };
    let at_start = caller.followed(made(), &request(START));
    assert!(!at_start.options.has_source && at_start.options.percent.of_capture);
    assert_eq!((at_start.event, at_start.cursor), (1, 3));
    assert_eq!(caller.followed(made(), &request(START + 16)).cursor, 4);
    assert_eq!(caller.followed(made(), &request(1)).cursor, 3);
    let mut cold = made();
    cold.events.clear();
    assert_eq!(caller.followed(cold, &request(START)).cursor, 0);
}

#[test]
fn a_text_is_searched_in_all_rows() {
    let mut view = view(made());
    for (keys, expected) in [
        ("/jmp\n", "jmp 3010"),
        ("n", "jmp 1158"),
        ("n", "jmp 3010"),
        ("N", "jmp 1158"),
        ("/exit_p\n", "jmp 3010"),
        ("/square.h\n", "include/square.h:7"),
        ("/square\n", "add(square(i))"),
        ("/inlined\u{1b}/ret\n", "ret"),
    ] {
        press(&mut view, keys);
        assert!(selected(&mut view).contains(expected), "{keys}: {}", selected(&mut view));
    }
    press(&mut view, "/ret\n");
    assert!(selected(&mut view).contains("ret") && view.message.contains("from the first row"));
    press(&mut view, "/zz\u{8}z\n");
    assert_eq!(view.message, "not found: zz");
    press(&mut view, "/\n");
    assert_eq!(view.message, "");
}

#[test]
fn a_search_goes_on_from_the_other_end() {
    let mut annotation = Annotation::default();
    annotation.instructions = ["a", "b", "a", "b"].map(|text| instruction(text, None, 0)).into();
    place(&mut annotation);
    let rows = super::super::rows::AnnotatedRows::new(&annotation, true);
    let found = |from, pattern: &[u8], is_backwards| find(&annotation, &rows, from, pattern, is_backwards);
    let at = |row, is_wrapped| Some(FoundRow { row, is_wrapped });
    assert_eq!(found(0, b"a", false), at(2, false));
    assert_eq!(found(2, b"a", false), at(0, true));
    assert_eq!(found(2, b"a", true), at(0, false));
    assert_eq!(found(0, b"b", true), at(3, true));
    assert_eq!((found(0, b"", false), found(9, b"c", true)), (None, None));
    let empty = super::super::rows::AnnotatedRows::default();
    assert_eq!(find(&annotation, &empty, 0, b"a", true), None);
}

/// 100,000 instructions: each key and each screen costs what is seen.
#[test]
fn large_functions_are_drawn_by_rows() {
    let mut annotation = made();
    annotation.instructions = (0..100_000).map(|index| instruction("nop", Some(index % 2), 0)).collect();
    annotation.instructions[77_777].totals[0] = total(1, 1);
    place(&mut annotation);
    let mut view = view(annotation);
    assert_eq!((view.rows.len(), view.cursor), (200_001, 2 * 77_777 + 2));
    let begin = std::time::Instant::now();
    for _ in 0..200 {
        press(&mut view, " \u{2193}H\t");
        selected(&mut view);
    }
    // It takes a second; with all rows of each screen, it would take ten minutes.
    assert!(begin.elapsed().as_secs() < 120, "{:?}", begin.elapsed());
    view.update(key(KeyCode::End));
    assert_eq!(view.cursor, 200_000);
}

#[test]
fn a_list_of_functions_opens_one() {
    let function = |symbol: &str, percent| {
        let request =
            FunctionRequest { symbol: symbol.into(), dso: b"a.out".to_vec(), ..FunctionRequest::default() };
        HotFunction { request, percent, samples: 7 }
    };
    let functions: Vec<_> = (0..30).map(|number| function(&format!("f{number}\u{1b}[2J"), 20.0)).collect();
    let mut list = FunctionList::new(&functions);
    let mut terminal = Terminal::new(TestBackend::new(60, 10)).unwrap();
    let mut screen = |list: &mut FunctionList<'_>| {
        terminal.draw(|frame| list.draw(true, frame.area(), frame.buffer_mut())).unwrap();
        format!("{}", terminal.backend())
    };
    let text = screen(&mut list);
    assert!(text.contains(r"20.00%           7  f0\u{1b}[2J  a.out"), "{text}");
    list.update(key(KeyCode::PageDown));
    list.update(key(KeyCode::Down));
    assert!(screen(&mut list).contains("f9") && !screen(&mut list).contains("f0"));
    assert_eq!(list.update(key(KeyCode::Enter)), ListStep::Open);
    assert_eq!(list.selected(), functions.get(9));
    list.update(key(KeyCode::End));
    list.update(key(KeyCode::Down));
    assert_eq!(list.cursor, 29);
    assert_eq!(list.update(key(KeyCode::Char('q'))), ListStep::Quit);
    let mut empty = FunctionList::new(&[]);
    empty.update(key(KeyCode::End));
    assert!(screen(&mut empty).contains("no function has samples") && empty.selected().is_none());
}

/// The cursor is in the middle of the screen after a far jump.
#[test]
fn a_far_row_is_in_the_middle() {
    let mut annotation = Annotation::default();
    annotation.instructions = (0..200).map(|_| instruction("nop", None, 0)).collect();
    annotation.instructions[150].text = "hlt".into();
    place(&mut annotation);
    let mut view: AnnotationView = view(annotation);
    press(&mut view, "/hlt\n");
    assert_eq!((view.cursor, view.top), (150, 140));
    press(&mut view, "\u{2193}");
    assert_eq!((view.cursor, view.top), (151, 140));
}
