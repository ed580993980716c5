//! Each source of the bytes of code, alone: without it, its test fails. The captures and files are written here.

mod generated;
mod kernel;
mod limits;
mod mapped;
mod recording;

use perf_annotate::Annotator;
use perf_profile::annotation::{AnnotatedInstruction, Annotation};

/// `push %rbp; mov %rsp,%rbp; call +8 bytes; pop %rbp; ret`, and padding up to 16 bytes.
const FIRST: [u8; 16] =
    [0x55, 0x48, 0x89, 0xe5, 0xe8, 0x07, 0, 0, 0, 0x5d, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90];
/// `nop; ret`, the function after it.
const SECOND: [u8; 2] = [0x90, 0xc3];

/// The text of an instruction with its target, address first.
fn shown(it: &AnnotatedInstruction) -> String {
    let target = it.target.as_ref().filter(|target| !target.name.is_empty());
    let target = target.map(|it| format!(" <{}+{:#x}>", it.name.escape_ascii(), it.offset));
    let samples: Vec<_> = it.totals.iter().map(|total| total.samples).collect();
    format!("{:x} {}{} {samples:?}", it.address, it.text, target.unwrap_or_default())
}

fn lines(annotation: &Annotation) -> Vec<String> {
    annotation.instructions.iter().map(shown).collect()
}

/// The annotation of the function of a name, or why there is none.
fn annotated(annotator: &mut Annotator, name: &str) -> Result<Annotation, String> {
    let [index] = annotator.find(name.as_bytes())[..] else {
        let names: Vec<_> =
            annotator.functions().iter().map(|it| it.name.escape_ascii().to_string()).collect();
        panic!("{name} is not one of {names:?}");
    };
    annotator.annotate(index).map_err(|why| why.to_string())
}
