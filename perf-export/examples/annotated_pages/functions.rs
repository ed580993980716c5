//! Functions that no compiler made.

use perf_profile::SampleTotal;
use perf_profile::annotation::{
    AnnotatedBranch, AnnotatedEvent, AnnotatedFunction, AnnotatedInstruction, AnnotatedLine, AnnotatedSource,
    AnnotatedTarget, Annotation,
};
use perf_symbol::{CodeOrigin, Guess};

/// Number of instructions of the longest function.
const MANY: u64 = 20_000;

/// Returns a function of each kind.
pub(crate) fn all() -> Vec<Annotation> {
    vec![looping(0x40_1000), helper(), hostile(), long(), of_kernel()]
}

/// An instruction of a function that is made: its text, line, function, samples, and the instruction or function it leads to.
struct Made(&'static str, Option<u32>, u32, u64, To);

#[derive(Clone, Copy)]
enum To {
    Next,
    Jump(u64),
    Call(u64, &'static str),
}

fn total(samples: u64) -> SampleTotal {
    SampleTotal { samples, period: samples * 100_003 }
}

fn event(name: &str, samples: u64, of_capture: u64, precise_ip: u8) -> AnnotatedEvent {
    let mut event = AnnotatedEvent::default();
    event.name = name.into();
    (event.total, event.of_capture) = (total(samples), total(of_capture));
    event.precise_ip = precise_ip;
    event
}

fn source(path: &str, first: u32, text: &[&str]) -> AnnotatedSource {
    let mut source = AnnotatedSource::default();
    source.path = path.as_bytes().into();
    source.first = first;
    source.text = text.iter().map(|line| line.as_bytes().into()).collect();
    source
}

fn function(name: &str, caller: Option<u32>, samples: &[u64]) -> AnnotatedFunction {
    let mut function = AnnotatedFunction::default();
    function.name = name.as_bytes().into();
    function.caller = caller;
    function.totals = samples.iter().map(|&samples| total(samples)).collect();
    function
}

/// A function of instructions of four bytes. The second event has a third of the samples.
fn code(symbol: &str, start: u64, code: &[Made], lines: &[(u32, u32)]) -> Annotation {
    let mut annotation = Annotation::default();
    annotation.symbol = symbol.as_bytes().into();
    annotation.dso = b"/usr/bin/prog"[..].into();
    (annotation.start, annotation.end) = (start, start + 4 * code.len() as u64);
    let mut sums = vec![0; lines.len()];
    for (Made(text, line, function, samples, to), address) in code.iter().zip((start..).step_by(4)) {
        let mut it = AnnotatedInstruction::default();
        it.address = address;
        it.bytes = [0x90; 4].into();
        it.text = (*text).into();
        (it.line, it.function) = (*line, *function);
        it.totals = vec![total(*samples), total(samples / 3)];
        it.target = match *to {
            To::Next => None,
            To::Jump(row) => Some(target(start + 4 * row, symbol, 4 * row, false)),
            To::Call(address, name) => Some(target(address, name, 0, true)),
        };
        if let Some(sum) = line.and_then(|line| sums.get_mut(line as usize)) {
            *sum += samples;
        }
        annotation.instructions.push(it);
    }
    for (&(source, number), &sum) in lines.iter().zip(&sums) {
        let mut line = AnnotatedLine::default();
        (line.source, line.line) = (source, number);
        line.totals = vec![total(sum), total(sum / 3)];
        annotation.lines.push(line);
    }
    let all: u64 = code.iter().map(|it| it.3).sum();
    let thirds: u64 = code.iter().map(|it| it.3 / 3).sum();
    annotation.events = vec![event("cycles", all, 2400, 0), event("cache-misses", thirds, 800, 2)];
    annotation
}

fn target(address: u64, name: &str, offset: u64, is_call: bool) -> AnnotatedTarget {
    let mut target = AnnotatedTarget::default();
    target.address = address;
    target.name = name.as_bytes().into();
    (target.offset, target.is_call) = (offset, is_call);
    target
}

/// A loop with an inlined function, calls, branches that were recorded, and a source file that was not found.
pub(crate) fn looping(start: u64) -> Annotation {
    let some = Some;
    let made = [
        Made("push   rbp", some(0), 0, 0, To::Next),
        Made("mov    rbp, rsp", some(0), 0, 2, To::Next),
        Made("xor    eax, eax", some(1), 0, 0, To::Next),
        Made("test   rsi, rsi", some(2), 0, 5, To::Next),
        Made("je     0x401048", some(2), 0, 0, To::Jump(18)),
        Made("movsd  xmm0, qword ptr [rdi]", some(3), 0, 120, To::Next),
        Made("mulsd  xmm0, xmm0", some(4), 1, 310, To::Next),
        Made("addsd  xmm1, xmm0", some(3), 0, 655, To::Next),
        Made("ucomisd xmm1, xmm2", some(5), 2, 71, To::Next),
        Made("jbe    0x401038", some(5), 2, 3, To::Jump(14)),
        Made("mov    rdi, rbx", some(6), 0, 1, To::Next),
        Made("call   0x402000", some(6), 0, 0, To::Call(0x40_2000, "rescale(double*, unsigned long)")),
        Made("call   0x400f00", some(6), 0, 0, To::Call(0x40_0f00, "memcpy@plt")),
        Made("nop    dword ptr [rax]", some(6), 0, 0, To::Next),
        Made("add    rdi, 8", some(2), 0, 18, To::Next),
        Made("dec    rsi", some(2), 0, 9, To::Next),
        Made("jne    0x401014", some(2), 0, 44, To::Jump(5)),
        Made("movapd xmm0, xmm1", some(7), 0, 0, To::Next),
        Made("pop    rbp", some(8), 0, 1, To::Next),
        Made("ret", some(8), 0, 1, To::Next),
    ];
    let lines = [(0, 20), (0, 21), (0, 22), (0, 23), (1, 7), (2, 112), (0, 25), (0, 28), (0, 29)];
    let mut annotation = code("sum_of_squares(std::span<const double>)", start, &made, &lines);
    let text = [
        "double sum_of_squares(std::span<const double> values) {",
        "\tdouble sum = 0;",
        "\tfor (const double& value : values) {",
        "\t\tsum += square(value);",
        "\t\tif (is_large(sum))",
        "\t\t\trescale(values);",
        "\t}",
        "",
        "\treturn sum;",
        "}",
    ];
    annotation.sources = vec![
        source("/src/prog/sum.cpp", 20, &text),
        source("/src/prog/square.h", 7, &["inline double square(double it) { return it * it; }"]),
        source("/opt/include/limits/large.h", 112, &[]),
    ];
    annotation.functions = vec![
        function("sum_of_squares(std::span<const double>)", None, &[856, 280]),
        function("square(double)", Some(0), &[310, 103]),
        function("is_large(double)", Some(0), &[74, 24]),
    ];
    let mut back = AnnotatedBranch::default();
    (back.from, back.to) = (Some(start + 0x40), Some(start + 0x14));
    (back.count, back.mispredicted, back.cycles, back.timed) = (5120, 31, 61_440, 5120);
    annotation.branches = vec![back];
    annotation
}

fn helper() -> Annotation {
    let made = [
        Made("mulsd  xmm0, qword ptr [rip + 0x2f00]", None, 0, 40, To::Next),
        Made("call   0x401000", None, 0, 2, To::Call(0x40_1000, "sum_of_squares(std::span<const double>)")),
        Made("jmp    0x402000", None, 0, 1, To::Jump(0)),
    ];
    let mut annotation = code("rescale(double*, unsigned long)", 0x40_2000, &made, &[]);
    annotation.functions = vec![function("rescale(double*, unsigned long)", None, &[43, 14])];
    annotation.guess = Some(Guess::File);
    annotation
}

/// Names and texts that look like HTML.
fn hostile() -> Annotation {
    let made = [
        Made("<img src=x onerror=alert(1)>", Some(0), 0, 12, To::Next),
        Made(
            "call <script>alert(2)</script>",
            Some(0),
            0,
            0,
            To::Call(1, "</script><img src=x onerror=alert(3)>"),
        ),
        Made("\u{2028}\u{202e}nop", Some(1), 7, 3, To::Next),
    ];
    let mut annotation = code("<b onclick=alert(4)>evil</b>", 0x40_3000, &made, &[(0, 1), (9, 1)]);
    annotation.sources = vec![source(
        "/src/\"><svg onload=alert(5)>.c",
        1,
        &["</script><img src=x onerror=alert(6)><!--\u{2028}\u{202e}"],
    )];
    annotation
}

/// A function that is too long to have all its rows in a page.
fn long() -> Annotation {
    let mut annotation = Annotation::default();
    annotation.symbol = b"generated_parser"[..].into();
    annotation.dso = b"/usr/lib/libparser.so"[..].into();
    (annotation.start, annotation.end) = (0x10_0000, 0x10_0000 + 4 * MANY);
    let mut all = 0;
    for row in 0..MANY {
        let mut it = AnnotatedInstruction::default();
        it.address = annotation.start + 4 * row;
        it.bytes = [0x90; 4].into();
        let jump = row.is_multiple_of(3).then(|| (row * 7919 + 13) % MANY);
        it.text = jump.map_or("mov    rax, rbx".into(), |to| format!("jne    {:#x}", 4 * to).into());
        it.target = jump.map(|to| target(0x10_0000 + 4 * to, "generated_parser", 4 * to, false));
        let samples = if row % 97 == 3 { row % 31 } else { 0 };
        all += samples;
        it.totals = vec![total(samples)];
        annotation.instructions.push(it);
    }
    annotation.events = vec![event("cycles", all, 4 * all, 0)];
    annotation.functions = vec![function("generated_parser", None, &[all])];
    annotation
}

fn of_kernel() -> Annotation {
    let made = [
        Made("endbr64", None, 0, 0, To::Next),
        Made("mov    rax, qword ptr gs:[0x2c0c0]", None, 0, 7, To::Next),
        Made(
            "call   0xffffffff81000100",
            None,
            0,
            0,
            To::Call(0xffff_ffff_8100_0100, "__x86_indirect_thunk"),
        ),
        Made("ret", None, 0, 1, To::Next),
    ];
    let mut annotation = code("do_syscall_64", 0xffff_ffff_8120_0000, &made, &[]);
    annotation.dso = b"[kernel.kallsyms]"[..].into();
    annotation.origin = CodeOrigin::Kcore;
    annotation
}
