//! Texts that would do something to a terminal, functions of any size, and any keys.

use perf_profile::annotation::Annotation;
use perf_profile::text::is_safe;
use ratatui_crossterm::crossterm::event::KeyCode;

use super::made::{instruction, made, place, press, screen, source, target, total, view};
use crate::terminal::test_keys::{Random, key};

/// A clear screen, a line end, letters that turn the direction of text, and wide ones.
const TEXT: &str = "a\u{1b}[2Jb\r\n\u{202e}c\u{5b57}\u{1f600}e\u{301}";

/// Returns a function whose names and texts all contain a text.
fn hostile(text: &str) -> Annotation {
    let mut it = made();
    it.symbol = text.as_bytes().into();
    it.dso = text.as_bytes().into();
    it.events[0].name = text.into();
    it.functions[1].name = text.as_bytes().into();
    it.sources[0] = source(text, 10, &[text; 4]);
    it.sources[1].path = b"\xff\xfe\x80"[..].into();
    for instruction in &mut it.instructions {
        instruction.text = text.into();
        if let Some(target) = &mut instruction.target {
            target.name = text.as_bytes().into();
        }
    }
    it
}

#[test]
fn texts_are_escaped_at_all_widths() {
    for text in [TEXT.to_owned(), "\t".repeat(100), "\u{5b57}".repeat(200), "\u{301}".repeat(5000)] {
        let mut view = view(hostile(&text));
        for width in [1, 2, 3, 7, 9, 10, 12, 20, 39, 80, 200] {
            for height in [1, 2, 3, 4, 10, 40] {
                for keys in ["", "s", "o", "J", "/\u{1b}", "/\u{202e}\u{1b}[2J\n", "?", "\u{1b}", "t"] {
                    press(&mut view, keys);
                    let screen = screen(&mut view, width, height);
                    assert!(screen.chars().all(|it| it == '\n' || is_safe(it)), "{keys:?}: {screen:?}");
                    assert_eq!(screen.lines().count(), usize::from(height));
                }
            }
        }
    }
}

/// 10 MB of a line, of a name and of an instruction, each in many rows.
#[test]
fn long_texts_cost_as_much_as_the_screen() {
    let mut annotation = hostile(&"\u{1b}".repeat(10 << 20));
    let shared = annotation.instructions[3].target.clone();
    annotation.instructions = (0..500)
        .map(|index| {
            let mut it = instruction("call", Some(index % 4), index % 2);
            it.target.clone_from(&shared);
            it
        })
        .collect();
    place(&mut annotation);
    let mut view = view(annotation);
    let begin = std::time::Instant::now();
    for _ in 0..20 {
        press(&mut view, " ");
        screen(&mut view, 100, 50);
    }
    press(&mut view, "/no such text\n");
    assert!(view.message.starts_with("not found"));
    // It takes less than a second; with all of the texts, it would take an hour.
    assert!(begin.elapsed().as_secs() < 120, "{:?}", begin.elapsed());
}

/// Indexes beyond lists, addresses that wrap around, totals that are not of their event.
#[test]
fn what_does_not_fit_together_is_shown_as_far_as_it_goes() {
    let mut annotation = made();
    annotation.start = u64::MAX;
    annotation.lines[0].source = 99;
    annotation.lines[1].line = u32::MAX;
    annotation.lines[3].line = 0;
    annotation.functions[1].caller = Some(u32::MAX);
    annotation.instructions[2].line = Some(u32::MAX);
    annotation.instructions[4].function = u32::MAX;
    annotation.instructions[5].totals = vec![total(u64::MAX, u64::MAX)];
    annotation.instructions[6].totals.clear();
    annotation.instructions[8].bytes = Box::default();
    annotation.instructions[8].target = target(u64::MAX, "", u64::MAX, false);
    annotation.events[0].total = total(0, 0);
    for annotation in [annotation, Annotation::default()] {
        let mut view = view(annotation);
        for keys in ["", "s", "s", "o", "b", "p", "t", "t", "J", "e", "H\t\u{b}", "/x\nnN", "\n"] {
            press(&mut view, keys);
            assert_eq!(screen(&mut view, 80, 24).lines().count(), 24, "{keys:?}");
        }
    }
}

/// Any keys on any screen: nothing panics, and a row that is there is selected.
#[test]
fn any_keys_on_any_screen() {
    const KEYS: &[u8] = b"\n\n\t\t/a\n/no\x1bnNsskojJtbpeHh? q\x1b\x7fOPrx";
    let mut random = Random::new();
    for annotation in [made(), hostile(TEXT), Annotation::default()] {
        let mut view = view(annotation);
        for _ in 0..600 {
            let code = match random.below(7) {
                0 => KeyCode::PageDown,
                1 => KeyCode::Up,
                2 => KeyCode::End,
                3 => KeyCode::BackTab,
                _ => random.typed(KEYS),
            };
            view.update(key(code));
            let (width, height) = (1 + random.below(120) as u16, 1 + random.below(40) as u16);
            let screen = screen(&mut view, width, height);
            assert!(screen.chars().all(|it| it == '\n' || is_safe(it)), "{screen:?}");
            let len = view.rows.len();
            assert!(view.cursor < len || (view.cursor, len) == (0, 0));
            assert!(view.top <= view.cursor);
            if height > 4 {
                assert!(view.cursor - view.top < usize::from(height));
            }
        }
    }
}
