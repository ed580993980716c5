//! objdump's listing of a file.

use std::process::Command;

use perf_symbol::CodeMachine;

/// The most instructions that are compared of a file: enough for a test, in a build without optimization.
const MOST: usize = 150_000;

/// An instruction as objdump has it.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) address: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) text: String,
    /// `None` if objdump takes the bytes for data.
    pub(crate) machine: Option<CodeMachine>,
}

impl Line {
    /// Returns where it branches to, if the text has the address as its last operand.
    pub(crate) fn target(&self) -> Option<u64> {
        let operands = self.text.split(" <").next()?;
        // Data; instructions of ARMv8.1-M that announce a branch, for which objdump takes data.
        let has_other_address =
            ["adr", "ldr", "prfm", "bf ", "bfl ", "bfcsel "].iter().any(|it| self.text.starts_with(it));
        if operands == self.text
            || has_other_address
            || operands.contains(['#', '@']) && !operands.starts_with("tb")
        {
            return None;
        }
        let last = operands.rsplit([' ', ',']).next()?;
        u64::from_str_radix(last, 16).ok()
    }
}

/// Returns the instructions of a file's `.text`, disassembled by this objdump.
pub(crate) fn of(objdump: &str, arguments: &[&str], path: &str, machine: CodeMachine) -> Vec<Line> {
    let mut command = Command::new(objdump);
    command.args(["-d", "-w", "-z", "--section=.text"]).args(arguments).arg(path);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    let listing = String::from_utf8(output.stdout).unwrap();
    listing.lines().filter_map(|it| line(it, machine)).take(MOST).collect()
}

fn line(line: &str, machine: CodeMachine) -> Option<Line> {
    let (address, rest) = line.split_once(":\t")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let (bytes, text) = rest.split_once('\t')?;
    let text = text.replace('\t', " ");
    let groups: Vec<_> = bytes.split_whitespace().collect();
    // A group of 4 digits is a half of a T32 instruction.
    let is_thumb = machine == CodeMachine::Arm && groups.iter().all(|it| it.len() == 4);
    let mut all = Vec::new();
    for group in groups {
        let value = u32::from_str_radix(group, 16).ok()?.to_le_bytes();
        all.extend_from_slice(&value[..group.len() / 2]);
    }
    let is_data = [".word", ".short", ".byte"].iter().any(|it| text.starts_with(it));
    let machine = if is_thumb { CodeMachine::Thumb } else { machine };
    Some(Line { address, bytes: all, text, machine: (!is_data).then_some(machine) })
}
