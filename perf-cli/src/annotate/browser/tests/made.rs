//! Functions of hand-made instructions, and how they are shown.

use perf_profile::SampleTotal;
use perf_profile::annotation::{
    AnnotatedEvent, AnnotatedFunction, AnnotatedInstruction, AnnotatedLine, AnnotatedSource, AnnotatedTarget,
    Annotation,
};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use super::super::draw::draw;
use super::super::options::ViewOptions;
use super::super::view::{AnnotationView, ViewStep};
use crate::terminal::test_keys::{key, typed};

/// The address of the first instruction.
pub(super) const START: u64 = 0x1140;

pub(super) fn total(samples: u64, period: u64) -> SampleTotal {
    SampleTotal { samples, period }
}

/// Returns an instruction of four bytes in a line of a function.
pub(super) fn instruction(text: &str, line: Option<u32>, function: u32) -> AnnotatedInstruction {
    let mut it = AnnotatedInstruction::default();
    it.bytes = vec![0; 4].into();
    it.text = text.into();
    (it.line, it.function) = (line, function);
    it.totals = vec![SampleTotal::default(); 2];
    it
}

/// Numbers the addresses of instructions, and sets the end.
pub(super) fn place(annotation: &mut Annotation) {
    annotation.start = START;
    for (address, it) in (START..).step_by(4).zip(&mut annotation.instructions) {
        it.address = address;
    }
    annotation.end = START + 4 * annotation.instructions.len() as u64;
}

pub(super) fn event(name: &str, samples: SampleTotal, precise_ip: u8) -> AnnotatedEvent {
    let mut it = AnnotatedEvent::default();
    it.name = name.into();
    (it.total, it.of_capture, it.precise_ip) =
        (samples, total(samples.samples * 2, samples.period * 4), precise_ip);
    it
}

pub(super) fn source(path: &str, first: u32, text: &[&str]) -> AnnotatedSource {
    let mut it = AnnotatedSource::default();
    (it.path, it.first) = (path.as_bytes().into(), first);
    it.text = text.iter().map(|line| line.as_bytes().into()).collect();
    it
}

fn line(source: u32, line: u32) -> AnnotatedLine {
    let mut it = AnnotatedLine::default();
    (it.source, it.line) = (source, line);
    it
}

fn function(name: &str, caller: Option<u32>) -> AnnotatedFunction {
    let mut it = AnnotatedFunction::default();
    (it.name, it.caller) = (name.as_bytes().into(), caller);
    it
}

pub(super) fn target(address: u64, name: &str, offset: u64, is_call: bool) -> Option<AnnotatedTarget> {
    let mut it = AnnotatedTarget::default();
    (it.address, it.name, it.offset, it.is_call) = (address, name.as_bytes().into(), offset, is_call);
    Some(it)
}

/// Returns a loop with an inlined function, a call, and samples of two events.
pub(super) fn made() -> Annotation {
    let mut it = Annotation::default();
    it.symbol = b"sum_all"[..].into();
    it.dso = b"/usr/bin/workload"[..].into();
    it.events = vec![event("cycles", total(100, 1000), 0), event("cache-misses", total(10, 500), 2)];
    it.functions = vec![function("sum_all", None), function("square", Some(0))];
    it.sources = vec![
        source(
            "src/sum.c",
            10,
            &["long sum_all(long n)", "{", "\tfor (long i = 0; i < n; i++)", "\t\tadd(square(i));"],
        ),
        source("include/square.h", 0, &[]),
    ];
    it.lines = vec![line(0, 10), line(0, 12), line(1, 7), line(0, 13)];
    it.instructions = vec![
        instruction("push %rbx", Some(0), 0),
        instruction("jmp 1158", Some(1), 0),
        instruction("imul %rdi,%rdi", Some(2), 1),
        instruction("call 2000", Some(3), 0),
        instruction("inc %rbx", Some(1), 0),
        instruction("cmp %rbx,%rax", Some(1), 0),
        instruction("jne 1148", Some(1), 0),
        instruction("jmp 3010", None, 0),
        instruction("ret", None, 0),
    ];
    it.instructions[1].target = target(START + 0x18, "sum_all", 0x18, false);
    it.instructions[3].target = target(0x2000, "add", 0, true);
    it.instructions[6].target = target(START + 8, "sum_all", 8, false);
    it.instructions[7].target = target(0x3010, "exit_path", 0x10, false);
    for (index, cycles, misses) in [(2, total(60, 300), total(1, 50)), (3, total(38, 690), total(9, 450))] {
        it.instructions[index].totals = vec![cycles, misses];
    }
    it.instructions[5].totals[0] = total(2, 10);
    place(&mut it);
    it
}

/// Returns a view of a function, with 20 rows.
pub(super) fn view(annotation: Annotation) -> AnnotationView {
    let mut view = AnnotationView::new(annotation, None, ViewOptions::default());
    view.resize(20);
    view
}

/// Presses keys; returns what the last one asks for.
pub(super) fn press(view: &mut AnnotationView, keys: &str) -> ViewStep {
    let mut step = ViewStep::Stay;
    for letter in keys.chars() {
        step = view.update(key(typed(letter)));
    }
    step
}

/// Returns the text of a screen.
pub(super) fn screen(view: &mut AnnotationView, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(view, true, frame.area(), frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let text = |row: &[ratatui_core::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
    rows.map(|row| text(row).trim_end().to_owned() + "\n").collect()
}

/// Returns the text of the selected row.
pub(super) fn selected(view: &mut AnnotationView) -> String {
    let text = screen(view, 120, 23);
    text.lines().nth(2 + view.cursor - view.top).unwrap().to_owned()
}
