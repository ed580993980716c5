//! The functions at one address, by its symbol, by DWARF, and by the table of a program of Go.

use std::ops::Range;
use std::sync::Arc;

use perf_session::{DsoKind, Mapping, Session};

use super::{AddressKey, Symbolizer};
use crate::answers::AnswerKey;
use crate::doubt::Doubt;
use crate::dso_states::{DsoState, DwarfState};
use crate::dso_symbols::DsoSymbols;
use crate::file_origin::FileOrigin;
use crate::function::Function;
use crate::guess::Guess;
use crate::jitdump::JitFunction;
use crate::never_called;
use crate::no_symbols::NoSymbols;
use crate::options::Demangle;
use crate::python;
use crate::recorded;
use crate::spelling::Form;
use crate::symtab::{NameSource, Symbol};

impl Symbolizer {
    /// Finds functions and keeps them.
    pub(super) fn look_up(
        &mut self,
        session: &Session,
        mapping: &Mapping,
        key: AddressKey,
        ip: u64,
        jitted: Option<JitFunction<'_>>,
    ) -> Range<u32> {
        // Less than 4 Gi, so that their numbers fit.
        let most = self.cached.saturating_mul(2).min(1 << 31);
        if self.cache.len() >= self.cached || self.functions.len() >= most {
            self.cache.clear();
            self.functions.clear();
        }
        if self.names.len() >= self.shared.finder.options().limits.cached {
            self.names.clear();
            self.states.forget_forms();
        }
        let dso = usize::try_from(key.dso).unwrap_or(usize::MAX);
        let start = self.functions.len();
        let of_jitdump = jitted.is_some();
        match jitted {
            Some(jitted) => self.add_jitted(dso, &jitted, ip),
            None => self.add_kept_or_found(session, mapping, key, ip),
        }
        let doubt = if of_jitdump { key.has_other_clock.then_some(Doubt::Clock) } else { self.doubt(dso) };
        let guess = if key.is_remapped { Some(Guess::Remapped) } else { doubt.and_then(Doubt::guess) };
        if let Some(guess) = guess {
            let named = self.functions.get_mut(start..).unwrap_or_default().iter_mut();
            // A name that the capture has is of the recorded file.
            named
                .filter(|it| it.name.is_some() && it.source != Some(NameSource::Recorded))
                .for_each(|it| it.guess = Some(guess));
        }
        let number = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        let range = number(start)..number(self.functions.len());
        if !self.cancellation.is_cancelled() {
            self.cache.insert(key, range.clone());
        }
        range
    }

    /// Returns why the names of a file may be wrong. Those of a perf map have nothing to do with a jitdump's clock.
    fn doubt(&self, dso: usize) -> Option<Doubt> {
        let symbols = self.states.get(dso)?.symbols.get()?;
        symbols.doubt.get().copied().filter(|doubt| *doubt != Doubt::Clock)
    }

    fn add_jitted(&mut self, dso: usize, jitted: &JitFunction<'_>, ip: u64) {
        let offset = ip.wrapping_sub(jitted.symbol.start);
        let mut function = self.function(dso, (&jitted.symbol, None), offset, true);
        function.file = jitted.file.map(|file| self.names.share(file));
        (function.line, function.column) = (jitted.line, jitted.column);
        self.functions.push(function);
    }

    /// Adds the functions that the cache has at an address, or looks them up and has the cache get them.
    fn add_kept_or_found(&mut self, session: &Session, mapping: &Mapping, key: AddressKey, ip: u64) {
        let (dso, start) = (usize::try_from(key.dso).unwrap_or(usize::MAX), self.functions.len());
        // What the capture has names of depends on the capture, and what was moved is not at its address.
        let is_of_file = !key.is_remapped && session.recorded_file(mapping.dso()).is_none();
        let symbols = self.states.get(dso).filter(|_| is_of_file).map(|state| Arc::clone(&state.symbols));
        let kept =
            symbols.as_ref().and_then(|symbols| symbols.get()).filter(|symbols| symbols.answers.is_some());
        let Some((symbols, answers)) = kept.and_then(|symbols| Some((symbols, symbols.answers.as_ref()?)))
        else {
            return self.add(session, mapping, key, ip);
        };
        let AddressKey { offset, is_caller, is_executable, .. } = key;
        let answer = AnswerKey { offset, is_caller, is_executable };
        if let Some(found) = answers.find(answer) {
            let Self { functions, names, .. } = self;
            functions.extend(found.into_iter().map(|it| Function {
                name: it.name.map(|name| names.share(name)),
                raw_name: it.raw_name.map(|name| names.share(name)),
                offset: it.offset,
                size: it.size,
                file: it.file.map(|file| names.share(file)),
                line: it.line,
                column: it.column,
                is_inlined: it.is_inlined,
                source: it.source,
                origin: it.source.and_then(|source| symbols.origin_of(source)),
                guess: None,
            }));
            return;
        }
        self.add(session, mapping, key, ip);
        let is_whole = !self.cancellation.is_cancelled()
            && self.states.lines_are_whole(dso)
            && symbols.why().is_none_or(|why| why == NoSymbols::NotInTable);
        if is_whole {
            answers.add(answer, self.functions.get(start..).unwrap_or_default());
        }
    }

    fn add(&mut self, session: &Session, mapping: &Mapping, key: AddressKey, ip: u64) {
        let kind = mapping.dso().kind();
        let dso = usize::try_from(key.dso).unwrap_or(usize::MAX);
        let back = u64::from(key.is_caller);
        if let DsoKind::Ksymbol(_) = kind {
            let name = mapping.dso().name();
            let symbol = Symbol {
                name,
                start: mapping.range().start,
                end: mapping.range().end,
                source: NameSource::Ksymbol,
            };
            let function = self.function(dso, (&symbol, None), key.offset, false);
            self.functions.push(function);
            return;
        }
        // Modules are in kallsyms too.
        let is_guest = self.states.get(dso).is_some_and(|state| state.is_guest);
        let kernel = if kind == DsoKind::Module && !is_guest { self.kernel(session) } else { None };
        let of = |number: usize| self.states.get(number).map(|state| Arc::clone(&state.symbols));
        let tables: Vec<_> = [kernel.and_then(of), of(dso)].into_iter().flatten().collect();
        let find = |back| {
            let mut symbols = tables.iter().filter_map(|symbols| symbols.get());
            symbols.find_map(|symbols| {
                let (symbol, address) = symbols.find(mapping, key.offset, ip, back)?;
                Some((symbol, address, symbols))
            })
        };
        let (back, symbol) = match (find(back), if back > 0 { find(0) } else { None }) {
            (Some((before, ..)), Some((at, address, symbols)))
                if never_called::is_exact(&before, &at, address) =>
            {
                (0, Some((at, address, symbols)))
            }
            // A return address at the start of a function, with none right before it, is where a signal handler returns to.
            (None, Some(exact)) => (0, Some(exact)),
            (found, _) => (back, found),
        };
        let is_doubtful = |symbols: &DsoSymbols| symbols.doubt.get().is_some();
        let is_proven = symbol.is_some_and(|(.., symbols)| !is_doubtful(symbols));
        // A file that is known to be the recorded one has more: all symbols, and lines.
        let recorded = if is_guest || is_proven {
            None
        } else {
            recorded::find(session, mapping, ip.wrapping_sub(back))
        };
        let recorded = recorded.map(|(symbol, address)| (symbol, address.wrapping_add(back), None));
        let of_files =
            symbol.map(|(symbol, address, symbols)| (symbol, address, symbols.origin_of(symbol.source)));
        // The running kernel is not that of a device.
        let is_of_device =
            |origin| is_proven || origin != Some(FileOrigin::Running) || !session.is_of_simpleperf();
        let of_files = of_files.filter(|(.., origin)| is_of_device(*origin));
        let is_recorded = recorded.is_some();
        let demangles = !matches!(kind, DsoKind::Kernel | DsoKind::Module)
            || self.shared.finder.options().demangle_kernel;
        let function = recorded.or(of_files).map(|(symbol, address, origin)| {
            let offset = address.wrapping_sub(symbol.start);
            let function = self.function(dso, (&symbol, origin), offset, demangles);
            let path = if symbol.source == NameSource::PerfMap { python::path(symbol.name) } else { None };
            Function { file: path.map(|path| self.names.share(path)), ..function }
        });
        let symbols = self.states.get(dso).and_then(|state| state.symbols.get());
        // A doubtful file has no lines of functions that the capture names.
        let symbols = symbols.filter(|symbols| !is_recorded || !is_doubtful(symbols));
        let address = symbols.and_then(|symbols| symbols.dwarf_address(mapping, key.offset));
        self.add_with_lines(dso, address.map(|address| address.wrapping_sub(back)), function, demangles);
    }

    /// Adds the inlined functions at an address, and then the function of its symbol with its line.
    pub(super) fn add_with_lines(
        &mut self,
        dso: usize,
        address: Option<u64>,
        function: Option<Function>,
        demangles: bool,
    ) {
        let start = self.functions.len();
        let Self { shared, states, functions, names, cancellation, .. } = self;
        let options = &**shared.finder.options();
        states.parse_lines(dso, &shared.finder, cancellation);
        if let Some(DsoState { symbols, forms, lines: DwarfState::Some(lines), .. }) = states.get_mut(dso)
            && let Some(address) = address
        {
            let origin = symbols.get().and_then(|symbols| symbols.origin_of(NameSource::Dwarf));
            lines.look_up(address, &mut |frame| {
                if functions.len().saturating_sub(start) >= options.limits.inlined {
                    return;
                }
                let name = frame.name.map(|name| {
                    let form = if demangles { forms.of(name, options, symbols.get()) } else { None };
                    names.get(name, form, options.limits.name)
                });
                let (raw_name, mut name) = name.unzip();
                if let Some(qualified) = frame.qualified.filter(|_| options.demangle != Demangle::Never) {
                    name = Some(names.share(qualified));
                }
                let source = name.is_some().then_some(NameSource::Dwarf);
                functions.push(Function {
                    source,
                    origin: source.and(origin),
                    name,
                    raw_name,
                    offset: None,
                    size: None,
                    file: frame.file.map(|file| names.share(file.as_bytes())),
                    line: frame.line,
                    column: frame.column,
                    is_inlined: true,
                    guess: None,
                });
            });
        }
        if self.cancellation.is_cancelled() {
            self.states.drop_lines(dso);
        }
        if let Some(address) = address.filter(|_| self.functions.len() == start) {
            self.add_go_frames(dso, address);
        }
        let outer = if self.functions.len() > start { self.functions.pop() } else { None };
        let outer = match (outer, function) {
            (Some(outer), Some(function)) => {
                Some(Function { file: outer.file, line: outer.line, column: outer.column, ..function })
            }
            (Some(outer), None) => Some(Function { is_inlined: false, ..outer }),
            (None, function) => function,
        };
        self.functions.extend(outer);
    }

    /// Makes the function of a symbol.
    pub(super) fn function(
        &mut self,
        dso: usize,
        (symbol, origin): (&Symbol<'_>, Option<FileOrigin>),
        offset: u64,
        demangles: bool,
    ) -> Function {
        let Self { shared, states, names, .. } = self;
        let options = &**shared.finder.options();
        let form = match states.get_mut(dso) {
            _ if symbol.source == NameSource::Recorded => {
                (options.demangle != Demangle::Never).then_some(Form::Recorded)
            }
            Some(DsoState { symbols, forms, .. }) if demangles => {
                forms.of(symbol.name, options, symbols.get())
            }
            _ => None,
        };
        let (raw_name, name) = names.get(symbol.name, form, options.limits.name);
        Function {
            name: Some(name),
            raw_name: Some(raw_name),
            offset: Some(offset),
            size: Some(symbol.end.saturating_sub(symbol.start)),
            file: None,
            line: None,
            column: None,
            is_inlined: false,
            source: Some(symbol.source),
            origin,
            guess: None,
        }
    }
}
