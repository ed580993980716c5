//! Programs of many functions, compiled for one test.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of functions in each program.
const FUNCTIONS: u32 = 50;

/// Text of a C program whose functions have branches, loops and inlined functions. It is C++ too.
fn c() -> String {
    let mut text = "volatile int sink;\n\
        static inline int twice(int x)\n{\n\tif (x > 7)\n\t\tsink = x;\n\treturn x * 2;\n}\n"
        .to_owned();
    for number in 0..FUNCTIONS {
        let step = number % 5 + 1;
        write!(
            text,
            "__attribute__((noinline)) int f{number}(int n)\n{{\n\tint sum = {number};\n\
             \tfor (int i = 0; i < n; i += {step}) {{\n\t\tif (i & {step}) sum += twice(i); else sum -= sink;\n\
             \t\tswitch (sum & 3) {{\n\t\tcase 0: sum ^= {number}; break;\n\t\tcase 1: sum = twice(twice(sum));\n\
             \t\t}}\n\t}}\n\treturn sum;\n}}\n"
        )
        .unwrap();
    }
    text.push_str("int main(void)\n{\n\tint sum = 0;\n");
    (0..FUNCTIONS).for_each(|number| writeln!(text, "\tsum += f{number}(sum);").unwrap());
    text.push_str("\treturn sum & 1;\n}\n");
    text
}

/// Text of a C++ program that uses templates of the standard library in addition.
fn cpp() -> String {
    let more = "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n\
        int more(std::vector<std::string> &words)\n{\n\tstd::map<std::string, int> counts;\n\
        \tstd::sort(words.begin(), words.end());\n\tfor (auto &word : words) counts[word] += 1;\n\
        \treturn std::count_if(counts.begin(), counts.end(), [](auto &it) { return it.second > 1; });\n}\n";
    format!("{more}{}", c())
}

/// Text of a Rust program.
fn rust() -> String {
    let mut text = "use std::collections::BTreeMap;\n".to_owned();
    for number in 0..FUNCTIONS {
        write!(
            text,
            "#[inline(never)]\npub fn f{number}(n: u32) -> u32 {{\n    let mut map = BTreeMap::new();\n\
             \x20   for i in 0..n {{\n        *map.entry(i % {}).or_insert(0u32) += i;\n    }}\n\
             \x20   map.values().filter(|&&it| it > {number}).map(|it| it ^ n).sum()\n}}\n",
            number + 2
        )
        .unwrap();
    }
    text.push_str("fn main() {\n    let mut sum = 1u32;\n");
    (0..FUNCTIONS)
        .for_each(|number| writeln!(text, "    sum = sum.wrapping_add(f{number}(sum % 10));").unwrap());
    text.push_str("    println!(\"{sum}\");\n}\n");
    text
}

/// Compiles a program. The first argument is the compiler.
pub(crate) fn compile(arguments: &[&str]) -> PathBuf {
    let folder = needs::folder();
    let (name, text) = match arguments[0] {
        "rustc" => ("program.rs", rust()),
        "g++" | "clang++" => ("program.cpp", cpp()),
        _ => ("program.c", c()),
    };
    fs::write(folder.join(name), text).unwrap();
    let mut command = Command::new(arguments[0]);
    let output = command.args(&arguments[1..]).args(["-o", "program", name]).current_dir(&folder).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    folder.join("program")
}

/// Returns the text of the program that was compiled to a file.
pub(crate) fn text_of(program: &Path) -> Vec<u8> {
    fs::read(program.with_extension("c")).unwrap()
}
