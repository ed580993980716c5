//! The installed perf, on a program that is recorded here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![has_the_percentages_of_perf, has_the_instructions_of_another_machine];

const PROGRAM: &str = r"
static unsigned mix(unsigned x) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; return x; }
__attribute__((noinline)) unsigned spin(unsigned n) {
    unsigned x = 1, s = 0;
    for (unsigned i = 0; i < n; i++) {
        x = mix(x);
        if (x & 1)
            s += x % 7;
    }
    return s;
}
__attribute__((noinline)) unsigned divide(unsigned n) {
    unsigned s = 1;
    for (unsigned i = 1; i < n; i++)
        s += 1000000007u / (s | i);
    return s;
}
int main(void) {
    unsigned s = 0;
    for (int i = 0; i < 40; i++)
        s += spin(300000 + i) + divide(150000 + i);
    return s == 42;
}
";

fn has_the_percentages_of_perf() {
    use needs::Need;
    let needed = [&["python3", "--version"][..], &["gcc", "--version"], &["objdump", "--version"]];
    needs::all(&[
        Need::PERF,
        Need::Events,
        Need::Runs(needed[0]),
        Need::Runs(needed[1]),
        Need::Runs(needed[2]),
    ]);
    let folder = needs::folder();
    fs::write(folder.join("hot.c"), PROGRAM).unwrap();
    let run = |program: &str, args: &[&str]| {
        let output =
            Command::new(program).args(args).current_dir(&folder).env("HOME", &folder).output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {said}");
        said
    };
    run("gcc", &["-O2", "-g", "-o", "hot", "hot.c"]);
    run("perf", &["record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", "perf.data", "./hot"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/annotate.py");
    let said =
        run("python3", &[script.to_str().unwrap(), env!("CARGO_BIN_EXE_perfdata"), "perf", "perf.data"]);
    assert!(said.contains(" 0 differ"), "{said}");
}

/// A program that a cross compiler made for AArch64: each instruction of a function is as objdump has it, and has its sample.
fn has_the_instructions_of_another_machine() {
    use perf_abi::attr::Attr;
    use perf_abi::event::{EventType, SwId};
    use perf_abi::sample_type::SampleType;
    use testdata::Bytes;

    const MAP: u64 = 0x7f00_0000_0000;
    let prefixed = |program| format!("aarch64-linux-gnu-{program}");
    let needed = [&["aarch64-linux-gnu-gcc", "--version"][..], &["aarch64-linux-gnu-objdump", "--version"]];
    needs::all(&[needs::Need::Runs(needed[0]), needs::Need::Runs(needed[1])]);
    let folder = needs::folder();
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{program} {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    fs::create_dir_all(folder.join("root/bin")).unwrap();
    fs::write(folder.join("hot.c"), PROGRAM).unwrap();
    // Without a C library, which a cross compiler may lack.
    run(&prefixed("gcc"), &["-O2", "-g", "-nostdlib", "-shared", "-fPIC", "-o", "root/bin/prog", "hot.c"]);
    let listing =
        run(&prefixed("objdump"), &["-d", "--no-show-raw-insn", "--disassemble=divide", "root/bin/prog"]);
    let expected: BTreeMap<u64, String> = listing
        .lines()
        .filter_map(|line| line.trim_start().split_once(":\t"))
        .map(|(address, text)| {
            let text = text.split("//").next().unwrap_or(text);
            let words: Vec<_> = text.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
            (u64::from_str_radix(address, 16).unwrap(), words.join(" "))
        })
        .collect();
    assert!(expected.len() > 10, "{listing}");
    let attr = Attr {
        kind: EventType::SOFTWARE,
        config: SwId::CPU_CLOCK.0,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD,
        ..Attr::default()
    };
    let mmap = Bytes::new(false).i32(5).i32(5).u64s(&[MAP, 0x10_0000, 0]).zeros(24).u32(5).u32(2);
    let mmap = mmap.padded(b"/bin/prog", 16).record(10, 2);
    let mut file = testdata::file::Builder::new(false).event(attr, &[]).data(mmap);
    for (number, address) in expected.keys().enumerate() {
        let sample = Bytes::new(false).u64(MAP + address).i32(5).i32(5).u64s(&[1, number as u64 + 1]);
        file = file.data(sample.record(9, 2));
    }
    fs::write(folder.join("perf.data"), file.build().bytes).unwrap();
    let document = run(
        env!("CARGO_BIN_EXE_perfdata"),
        &[
            "annotate",
            "divide",
            "--format",
            "json",
            "--symfs",
            folder.join("root").to_str().unwrap(),
            "perf.data",
        ],
    );
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let function = &document["functions"][0];
    let found: BTreeMap<u64, String> = function["instructions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let mut text = it["text"].as_str().unwrap().split("//").next().unwrap().to_owned();
            if let Some(target) = it["target"].as_object() {
                let offset = target["offset"].as_u64().unwrap();
                let plus = if offset == 0 { String::new() } else { format!("+{offset:#x}") };
                text += &format!(" <{}{plus}>", target["symbol"].as_str().unwrap());
            }
            let words: Vec<_> = text.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
            (it["address"].as_u64().unwrap(), words.join(" "))
        })
        .collect();
    assert_eq!(found, expected);
    let periods: Vec<_> =
        function["instructions"].as_array().unwrap().iter().map(|it| it["period"][0].as_u64()).collect();
    assert_eq!(periods, (1..=expected.len() as u64).map(Some).collect::<Vec<_>>());
    assert!(function["sources"][0]["path"].as_str().unwrap().ends_with("hot.c"));
}
