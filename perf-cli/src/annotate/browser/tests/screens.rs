//! The screens, and their colours.

use std::path::Path;

use ratatui_core::backend::TestBackend;
use ratatui_core::style::Color;
use ratatui_core::terminal::Terminal;

use super::super::draw::draw;
use super::made::{made, press, screen, view};

/// The name of the golden, and keys.
const SCREENS: [(&str, &str); 5] = [
    ("annotated", ""),
    ("annotated_jump", "s/jne\n"),
    ("annotated_addresses", "oJkb"),
    ("annotated_search", "/ad"),
    ("annotated_help", "?"),
];

#[test]
fn screens_are_as_they_were() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The published package has no goldens.
    if !manifest.join("tests").exists() {
        return;
    }
    let folder = manifest.join("../testdata/goldens/browser");
    let mut differences = String::new();
    for (name, keys) in SCREENS {
        let mut view = view(made());
        press(&mut view, keys);
        let mut now = screen(&mut view, 90, 24);
        for (width, height) in [(40, 10), (12, 6)] {
            now += &format!("\n{width} x {height}:\n{}", screen(&mut view, width, height));
        }
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != now {
            differences += &format!("{name}:\n{now}\n");
        }
    }
    assert!(differences.is_empty(), "write the goldens with BLESS=1:\n{differences}");
}

#[test]
fn colors_are_those_of_percentages_or_none() {
    let mut view = view(made());
    let mut terminal = Terminal::new(TestBackend::new(90, 24)).unwrap();
    for has_colors in [true, false] {
        terminal.draw(|frame| draw(&mut view, has_colors, frame.area(), frame.buffer_mut())).unwrap();
        let cells = &terminal.backend().buffer().content;
        let has = |color| cells.iter().any(|cell| cell.fg == color);
        assert_eq!((has(Color::Red), has(Color::Green)), (has_colors, has_colors));
        let others = [Color::Reset, Color::Red, Color::Green];
        assert!(cells.iter().all(|cell| others.contains(&cell.fg) && cell.bg == Color::Reset));
    }
}
