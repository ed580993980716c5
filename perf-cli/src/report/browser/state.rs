//! The view of a report, described so that it can be restored for other samples of the capture.

use perf_abi::record::CpuMode;
use perf_profile::report::{Report, ReportCell, ReportColumn, ReportRow, ReportTable, SortKey};
use perf_profile::text::push_name;
use perf_profile::{FunctionTable, NONE, ProfileThread, Symbol};

/// Whose samples are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ZoomedTask {
    Thread(i32),
    Process(i32),
    Name(Vec<u8>),
}

/// What is zoomed into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Zoom {
    Thread(ZoomedTask),
    /// The short name of a file.
    Dso(Vec<u8>),
    Kernel,
    /// Spans of time, as `--time` has them.
    Time(String),
}

/// What is shown.
#[derive(Clone, Debug)]
pub(super) struct BrowserState {
    /// The index of the table.
    pub(super) table: usize,
    /// The last one comes first when zooming out.
    pub(super) zooms: Vec<Zoom>,
    /// What names of functions must contain.
    pub(super) filter: String,
    /// The column that rows are ordered by, and the event of the table; `None` for the order of the report.
    pub(super) sort: Option<(ReportColumn, usize)>,
    pub(super) is_reversed: bool,
    /// Whether percentages are of what is shown.
    pub(super) is_relative: bool,
    pub(super) has_headings: bool,
    /// Rows below this percentage are left out.
    pub(super) min_percent: f64,
}

impl ZoomedTask {
    /// Returns whose samples a row has; `None` if its keys do not tell.
    pub(super) fn of(table: &ReportTable<'_>, row: &ReportRow) -> Option<Self> {
        let has = |key| table.report().plan().layout.has(key);
        let key = match () {
            () if has(SortKey::Pid) || has(SortKey::Tid) => SortKey::Tid,
            () if has(SortKey::Tgid) => SortKey::Tgid,
            () if has(SortKey::Comm) => SortKey::Comm,
            () => return None,
        };
        match table.cell(row, key) {
            ReportCell::Task { id, .. } if key == SortKey::Tid => Some(Self::Thread(id)),
            ReportCell::Task { id, .. } => Some(Self::Process(id)),
            ReportCell::Text(comm) => Some(Self::Name(comm.to_vec())),
            _ => None,
        }
    }

    /// Returns whether a thread of a profile is meant.
    fn is(&self, thread: &ProfileThread) -> bool {
        match self {
            Self::Thread(tid) => thread.tid == *tid,
            Self::Process(pid) => thread.pid == *pid,
            Self::Name(comm) => *thread.comm == **comm,
        }
    }
}

/// Returns the name of a function as a filter sees it; the address of one without a name.
fn name(symbol: Option<&Symbol>, address: u64) -> Vec<u8> {
    let mut text = Vec::new();
    match symbol {
        Some(symbol) => push_name(&mut text, &symbol.label()),
        None => text.extend_from_slice(format!("0x{address:016x}").as_bytes()),
    }
    text
}

fn contains(text: &[u8], part: &str) -> bool {
    part.is_empty() || text.windows(part.len()).any(|it| it == part.as_bytes())
}

impl BrowserState {
    /// Returns the last spans of time that were zoomed into.
    pub(super) fn time(&self) -> Option<&str> {
        self.zooms
            .iter()
            .rev()
            .find_map(|zoom| if let Zoom::Time(time) = zoom { Some(&**time) } else { None })
    }

    /// Returns whether a row is shown, whatever its percentage is.
    pub(super) fn shows(&self, table: &ReportTable<'_>, row: &ReportRow) -> bool {
        if self.zooms.is_empty() && self.filter.is_empty() {
            return true;
        }
        let ReportCell::Symbol { symbol, address, mode, .. } = table.cell(row, SortKey::Symbol) else {
            return false;
        };
        let dso = match table.cell(row, SortKey::Dso) {
            ReportCell::Dso(Some(name)) => name,
            _ => table.report().function_table().short_name(NONE),
        };
        let is_in = |zoom: &Zoom| match zoom {
            Zoom::Thread(task) => ZoomedTask::of(table, row).as_ref() == Some(task),
            zoom => is_of(zoom, dso, mode),
        };
        self.zooms.iter().all(is_in)
            && (self.filter.is_empty() || contains(&name(symbol, address), &self.filter))
    }

    /// Returns whether samples of a thread are shown.
    pub(super) fn shows_thread(&self, thread: &ProfileThread) -> bool {
        self.zooms.iter().all(|zoom| !matches!(zoom, Zoom::Thread(task) if !task.is(thread)))
    }

    /// Returns whether functions at an address are shown: all of them, or only the one that is not inlined.
    pub(super) fn shows_frame(
        &self,
        frames: &perf_profile::FrameTable,
        named: &FunctionTable,
        frame: u32,
        inlines: bool,
    ) -> bool {
        let dso = frames.location(frame).map_or(NONE, |place| place.dso);
        let (dso, mode) = (named.short_name(named.short_name_of(dso)), frames.mode(frame));
        let address = frames.location(frame).map_or(0, |place| place.offset);
        let has_name = |symbol| contains(&name(named.symbol(symbol), address), &self.filter);
        let functions = named.functions_of(frame);
        self.zooms.iter().all(|zoom| is_of(zoom, dso, mode))
            && (has_name(named.symbol_of(frame))
                || inlines && functions.iter().any(|function| has_name(function.symbol)))
    }
}

/// Returns whether code is in what is zoomed into. Threads and times have any code.
fn is_of(zoom: &Zoom, dso: &[u8], mode: CpuMode) -> bool {
    match zoom {
        Zoom::Thread(_) | Zoom::Time(_) => true,
        Zoom::Dso(name) => name == dso,
        Zoom::Kernel => mode == CpuMode::KERNEL,
    }
}

/// Returns the name of a thread for a line of text.
pub(super) fn shown_task(task: &ZoomedTask, report: &Report) -> Vec<u8> {
    let mut text = Vec::new();
    match task {
        ZoomedTask::Name(name) => push_name(&mut text, name),
        ZoomedTask::Thread(id) | ZoomedTask::Process(id) => {
            push_name(&mut text, report.comm(*id));
            text.extend_from_slice(format!("({id})").as_bytes());
        }
    }
    text
}
