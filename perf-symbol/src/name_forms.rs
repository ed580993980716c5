//! The forms in which the names of a file are shown.

use hashbrown::HashMap;

use crate::dso_symbols::DsoSymbols;
use crate::options::{Demangle, SymbolOptions};
use crate::spelling::Form;

/// The names of a file that were looked at, by their mangled names of C++: whether the file has another function with the same
/// short name.
#[derive(Debug, Default)]
pub(crate) struct NameForms {
    overloads: HashMap<Box<[u8]>, bool>,
}

impl NameForms {
    /// Returns the form in which a name is shown; `None` if it stays as it is in the file, whose symbols are `symbols`.
    pub(crate) fn of(
        &mut self,
        name: &[u8],
        options: &SymbolOptions,
        symbols: Option<&DsoSymbols>,
    ) -> Option<Form> {
        match options.demangle {
            Demangle::Never => None,
            Demangle::Distinct if !self.is_overloaded(name, symbols) => Some(Form::Short),
            Demangle::Short => Some(Form::Short),
            Demangle::Distinct | Demangle::Full => Some(Form::Full),
        }
    }

    fn is_overloaded(&mut self, name: &[u8], symbols: Option<&DsoSymbols>) -> bool {
        // Other names cost nothing.
        if !name.starts_with(b"_Z") {
            return false;
        }
        if let Some(&known) = self.overloads.get(name) {
            return known;
        }
        let found = symbols.is_some_and(|it| it.has_overload(name));
        self.overloads.insert(name.into(), found);
        found
    }
}
