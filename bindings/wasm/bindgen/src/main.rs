//! Writes the JavaScript and the types of a WebAssembly module, as the program `wasm-bindgen` does.
//!
//! `bindgen MODULE TARGET FOLDER`, where TARGET is `bundler`, `nodejs`, `web` or `no-modules`.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, target, folder] = &*arguments else {
        eprintln!("usage: bindgen MODULE bundler|nodejs|web|no-modules FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name("perfdata")
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true);
    let chosen = match &**target {
        "bundler" => bindgen.bundler(true),
        "nodejs" => bindgen.nodejs(true),
        "web" => bindgen.web(true),
        "no-modules" => bindgen.no_modules(true),
        _ => {
            eprintln!("{target}: not a target; it is bundler, nodejs, web or no-modules");
            return ExitCode::from(2);
        }
    };
    let generated = chosen.and_then(|bindgen| bindgen.generate(folder));
    if let Err(error) = generated {
        eprintln!("{module}: {error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
