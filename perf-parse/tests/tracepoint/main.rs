//! Tracepoints: texts of formats, raw data in both byte orders, and faulty tracing data, all written by hand.

mod formats;
mod raw;
mod tracing_data;

const COMMON: &str = "format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

";

/// Returns the text of a format with these field lines after the common ones.
fn text(fields: &str) -> String {
    format!("name: event\nID: 300\n{COMMON}{fields}\nprint fmt: \"%d\", REC->a\n")
}

fn line(declaration: &str, offset: u32, size: u32, signed: u32) -> String {
    format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n")
}
