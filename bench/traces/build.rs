//! Compiles the loop over libipt's packet decoder if its header is there: in the folder `LIBIPT`, or in `/usr`.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=LIBIPT");
    println!("cargo::rerun-if-changed=src/libipt.c");
    let root = PathBuf::from(std::env::var_os("LIBIPT").unwrap_or_else(|| "/usr".into()));
    let include = root.join("include");
    if include.join("intel-pt.h").exists() {
        cc::Build::new().file("src/libipt.c").include(include).opt_level(3).compile("libipt_race");
        println!("cargo::rustc-link-search=native={}", root.join("lib/x86_64-linux-gnu").display());
        println!("cargo::rustc-link-lib=dylib=ipt");
        println!("cargo::rustc-cfg=libipt");
    }
}
