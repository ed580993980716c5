//! What keys show.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::keys::{HELP, ViewAction, action};
use super::super::view::{ViewMode, ViewStep};
use super::made::{START, event, made, press, screen, selected, total, view};
use crate::terminal::test_keys::named;

#[test]
fn every_key_of_the_help_does_something() {
    for (keys, _) in HELP {
        for key in keys.split(' ') {
            // The view has it before the actions.
            if key == "CTRL-C" {
                continue;
            }
            let action = action(named(key));
            assert!(!matches!(action, None | Some(ViewAction::Instead(_))), "{key}");
        }
    }
}

#[test]
fn ctrl_c_leaves_from_everywhere() {
    for keys in ["", "?", "/x"] {
        let mut view = view(made());
        press(&mut view, keys);
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(view.update(key), ViewStep::Quit, "{keys:?}");
    }
}

#[test]
fn percentages_are_of_each_type() {
    let mut view = view(made());
    for (keys, percent, name) in [
        ("", "69.00%", "[local period]"),
        ("p", "17.25%", "[global period]"),
        ("b", "19.00%", "[global hits]"),
        ("p", "38.00%", "[local hits]"),
        ("bt", "690", "[Event count]"),
        ("t", "38", "[Samples]"),
        ("t", "69.00%", "[local period]"),
        ("e", "90.00%", "[local period]"),
    ] {
        press(&mut view, keys);
        let row = selected(&mut view);
        assert!(row.trim_start().starts_with(percent) && row.contains("call 2000"), "{keys:?}: {row}");
        let screen = screen(&mut view, 120, 23);
        assert!(screen.lines().nth(1).unwrap().ends_with(name), "{keys:?}: {screen}");
    }
    assert!(screen(&mut view, 120, 23).starts_with("Samples: 10 of 20 of event 'cache-misses'"));
    press(&mut view, "e");
    assert!(screen(&mut view, 120, 23).starts_with("Samples: 100 of 200 of event 'cycles'"));
}

#[test]
fn source_lines_are_hidden_and_shown_around_the_same_instruction() {
    let mut view = view(made());
    let before = screen(&mut view, 120, 23);
    assert!(
        before.contains("square, inlined into sum_all") && before.contains("include/square.h:7"),
        "{before}"
    );
    press(&mut view, "s");
    let text = screen(&mut view, 120, 23);
    assert!(!text.contains("square") && view.rows.len() == 9, "{text}");
    assert!(selected(&mut view).contains("call 2000"));
    press(&mut view, "s");
    assert_eq!(screen(&mut view, 120, 23), before);
    // From a source line, the instruction after it.
    press(&mut view, "\u{2191}s");
    assert!(selected(&mut view).contains("call 2000"));
}

#[test]
fn addresses_line_numbers_and_jump_sources_are_toggled() {
    let mut view = view(made());
    assert!(selected(&mut view).contains(" c: → call 2000 <add>"), "{}", selected(&mut view));
    press(&mut view, "o");
    assert!(selected(&mut view).contains("114c: → call 2000 <add>"), "{}", selected(&mut view));
    let text = screen(&mut view, 120, 23);
    assert!(text.contains("1158: ↑ jne 1148\n") && text.contains("→ jmp 3010 <exit_path+0x10>"), "{text}");
    assert!(text.contains("13                 add(square(i));"), "{text}");
    press(&mut view, "ok");
    let text = screen(&mut view, 120, 23);
    assert!(text.contains("↑ jne 1148 <+0x8>") && !text.contains("13        "), "{text}");
    press(&mut view, "J");
    assert!(screen(&mut view, 120, 23).contains("1 18: ↑ jne"));
}

#[test]
fn the_selected_jump_has_an_arrow() {
    let mut view = view(made());
    press(&mut view, "s/jne\n");
    let column = |view: &mut _| -> Vec<String> {
        let lines = screen(view, 120, 23);
        lines.lines().skip(2).take(9).map(|line| line.chars().skip(10).take(2).collect()).collect()
    };
    assert_eq!(column(&mut view), ["  ", "  ", "┌►", "│ ", "│ ", "│ ", "└─", "  ", "  "]);
    press(&mut view, "/jmp 1158\n");
    assert_eq!(column(&mut view), ["  ", "┌─", "│ ", "│ ", "│ ", "│ ", "└►", "  ", "  "]);
    press(&mut view, "j");
    assert_eq!(column(&mut view).concat().trim(), "");
}

#[test]
fn notes_name_what_to_doubt() {
    let mut annotation = made();
    assert_eq!(
        super::super::notes::notes(&view(annotation.clone())),
        "skid: samples may be at an instruction after their cause; source of 1 of 2 files not found"
    );
    annotation.guess = Some(perf_symbol::Guess::File);
    annotation.origin = perf_symbol::CodeOrigin::Jitdump;
    annotation.sources[0].text.clear();
    annotation.events[0].precise_ip = 2;
    let mut shown = view(annotation.clone());
    assert_eq!(
        super::super::notes::notes(&shown),
        "the name is a guess (file); code of jitdump; source not found"
    );
    assert!(screen(&mut shown, 120, 23).contains("sum_all [guessed]  /usr/bin/workload"));
    annotation.lines.clear();
    annotation.events.clear();
    annotation.instructions.iter_mut().for_each(|it| it.totals.clear());
    let mut shown = view(annotation);
    assert!(super::super::notes::notes(&shown).starts_with("the function has no samples; "));
    assert!(screen(&mut shown, 120, 23).contains("no line information"));
    press(&mut shown, "H");
    assert!(shown.message.contains("no instruction has samples"));
}

#[test]
fn the_event_of_the_report_is_shown_first() {
    let mut annotation = made();
    let shown =
        super::super::view::AnnotationView::new(annotation.clone(), Some("cache-misses"), Default::default());
    assert_eq!(shown.event, 1);
    let shown =
        super::super::view::AnnotationView::new(annotation.clone(), Some("other"), Default::default());
    assert_eq!(shown.event, 0);
    annotation.events = vec![event("cycles", total(1, 1), 1)];
    let mut shown = view(annotation);
    press(&mut shown, "e");
    assert!(shown.message.contains("one event only"));
}

#[test]
fn the_help_is_a_text() {
    let mut view = view(made());
    view.resize(5);
    press(&mut view, "?");
    assert_eq!(view.mode, ViewMode::Help(0));
    press(&mut view, "\u{2193}\u{2193}");
    assert_eq!(view.mode, ViewMode::Help(2));
    assert!(screen(&mut view, 80, 8).contains("Go to the hottest instruction"));
    assert_eq!(press(&mut view, "\u{1b}"), ViewStep::Stay);
    assert_eq!((view.mode.clone(), view.annotation.start), (ViewMode::Rows, START));
}
