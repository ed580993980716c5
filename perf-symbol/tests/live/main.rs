//! Comparison with the programs of binutils and LLVM on what the compilers of this machine make. If one is missing, the test is
//! ignored, with the reason.

mod line_rows;
mod oracles;
mod plt;
mod programs;

fn main() -> std::process::ExitCode {
    needs::run(&[line_rows::TESTS, plt::TESTS])
}
