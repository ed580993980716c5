//! `dsos`: what is mapped at the addresses of frames.

use perf_profile::short_name;
use perf_session::{BuildId, Dso, DsoKind};
use perf_symbol::SymbolLookup;

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::utf8::utf8;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    dso_id: Int64, "", "Number of what is mapped in the capture. It may come again under another number.";
    name ? Text, "", "Name without folders, as reports have it.";
    path ? Text, "", "Path as it was recorded, or the name of what has no file.";
    kind: Word, "", "`file`, `memory`, `vdso`, `vsyscall`, `kernel`, `module` or `ksymbol`.";
    build_id ? Text, "", "Recorded build id in hexadecimal. Null if it is not recorded.";
    debug_file ? Text, "", "The file that names were looked for in. Null if none was found, or none was looked for.";
    status: Text, "", "`found`; `doubtful` if nothing proves that the file is the one that was mapped; `not looked for`; or why there are no names.";
};

fn kind_name(kind: DsoKind) -> &'static str {
    match kind {
        DsoKind::File => "file",
        DsoKind::Memory => "memory",
        DsoKind::Vdso => "vdso",
        DsoKind::Vsyscall => "vsyscall",
        DsoKind::Kernel => "kernel",
        DsoKind::Module => "module",
        DsoKind::Ksymbol(_) => "ksymbol",
        _ => "unknown",
    }
}

/// Returns the name without folders; `None` if it is left out.
pub(super) fn name_of(context: &Context, dso: &Dso) -> Option<String> {
    let name = short_name(dso);
    context.path_of(dso, &name).map(|name| name.into_owned())
}

pub(super) fn push(
    rows: &mut TableRows,
    context: &Context,
    dso_id: u64,
    dso: &Dso,
    build_id: Option<BuildId>,
    looked: Option<&SymbolLookup>,
) {
    rows.text(context.capture.as_str());
    rows.int64(dso_id);
    rows.text(name_of(context, dso).as_deref());
    rows.text(context.path_of(dso, dso.path()).as_deref());
    rows.text(kind_name(dso.kind()));
    rows.text(build_id.map(|id| id.to_string()).as_deref());
    let file = looked.map(|it| it.path.as_os_str().as_encoded_bytes()).filter(|path| !path.is_empty());
    rows.text(file.and_then(|path| context.path(path)).as_deref());
    let status = match looked {
        None => "not looked for".to_owned(),
        Some(SymbolLookup { why: Some(why), .. }) => why.to_string(),
        Some(SymbolLookup { doubt: Some(_), .. }) => "doubtful".to_owned(),
        Some(_) => "found".to_owned(),
    };
    rows.text(&*utf8(status.as_bytes()));
    rows.end();
}
