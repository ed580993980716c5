//! The functions at an address of a unit of DWARF 2, by what its DIEs are nested in.
//!
//! A DIE of DWARF 2 has one range. For a function that is inlined in several pieces, or split into a hot and a cold part,
//! `gcc -gdwarf-2 -gstrict-dwarf` writes the range of the first piece alone; what is inlined into the others is below it all
//! the same. addr2line looks for an inlined function only in the range of the one around it, and does not find it there.
//! As binutils does, this takes the function with the smallest range at the address, and all that are around it.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use gimli::{AttributeValue, DwLang, Error, Range, Reader, UnitOffset, UnitRef, constants};
use hashbrown::HashMap;

use super::scopes;
use crate::budget::Metered;

/// Number of functions that are inlined into each other.
const DEEPEST: usize = 256;

/// The version of DWARF whose DIEs have one range.
pub(super) const VERSION: u16 = 2;

/// The functions of units, by the address of each unit, found when an address of it needs them.
#[derive(Debug, Default)]
pub(super) struct NestedFunctions<'a>(RefCell<HashMap<usize, Option<UnitFunctions<'a>>>>);

/// A function at an address.
#[derive(Debug)]
pub(super) struct NestedFrame<'a> {
    pub(super) name: Metered<'a>,
    pub(super) offset: UnitOffset,
    pub(super) language: Option<DwLang>,
    /// Where the function is that was inlined into this one; `None` for the innermost.
    pub(super) call: Option<InlineCall>,
}

/// Where a function was inlined.
#[derive(Clone, Debug)]
pub(super) struct InlineCall {
    pub(super) file: Option<Arc<str>>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

#[derive(Debug)]
struct UnitFunctions<'a> {
    language: Option<DwLang>,
    /// In the order of the file.
    functions: Vec<NestedFunction<'a>>,
    /// The innermost function from each address on, by its number.
    innermost: Vec<(u64, Option<usize>)>,
    /// The paths of the sources that were needed, by their numbers.
    files: HashMap<u64, Option<Arc<str>>>,
}

#[derive(Debug)]
struct NestedFunction<'a> {
    offset: UnitOffset,
    /// The number of the function that this one is inlined into.
    around: Option<usize>,
    /// Its name and where it was inlined, once they were needed.
    known: Option<(Metered<'a>, Option<InlineCall>)>,
}

impl<'a> NestedFunctions<'a> {
    /// Returns the functions at an address, the innermost first; `None` if addr2line finds them. Reads the DIEs of the unit
    /// when it is needed first.
    pub(super) fn frames(
        &self,
        unit: UnitRef<'_, Metered<'a>>,
        address: u64,
    ) -> Option<Vec<NestedFrame<'a>>> {
        if unit.header.version() != VERSION {
            return None;
        }
        let key = std::ptr::from_ref(unit.unit).addr();
        let mut units = self.0.borrow_mut();
        let functions = units.entry(key).or_insert_with(|| UnitFunctions::of(unit).ok());
        functions.as_mut()?.frames(unit, address).ok()?
    }
}

impl<'a> UnitFunctions<'a> {
    fn of(unit: UnitRef<'_, Metered<'a>>) -> Result<Self, Error> {
        let (mut functions, mut ranges): (Vec<NestedFunction<'a>>, Vec<(Range, usize)>) =
            (Vec::new(), Vec::new());
        // The functions around the next DIE, with their depths.
        let mut around: Vec<(isize, usize)> = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        let root = unit.entry(entries.next_offset())?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while around.last().is_some_and(|&(of, _)| of >= depth) {
                around.pop();
            }
            entries.skip_attributes(abbreviation.attributes())?;
            let is_inlined = abbreviation.tag() == constants::DW_TAG_inlined_subroutine;
            if !is_inlined && abbreviation.tag() != constants::DW_TAG_subprogram {
                continue;
            }
            let number = functions.len();
            let mut of_function = unit.die_ranges(&unit.entry(offset)?)?;
            while let Some(range) = of_function.next()? {
                ranges.push((range, number));
            }
            let into = around.last().filter(|_| is_inlined).map(|&(_, number)| number);
            functions.push(NestedFunction { offset, around: into, known: None });
            around.push((depth, number));
        }
        let language = match root.attr_value(constants::DW_AT_language) {
            Some(AttributeValue::Language(language)) => Some(language),
            _ => None,
        };
        Ok(Self { language, functions, innermost: innermost(&ranges), files: HashMap::new() })
    }

    /// `None` if a name is in another unit, too.
    fn frames(
        &mut self,
        unit: UnitRef<'_, Metered<'a>>,
        address: u64,
    ) -> Result<Option<Vec<NestedFrame<'a>>>, Error> {
        let after = self.innermost.partition_point(|&(from, _)| from <= address);
        let last = after.checked_sub(1).and_then(|last| self.innermost.get(last));
        let mut next = last.and_then(|&(_, number)| number);
        let mut frames = Vec::new();
        let mut call = None;
        while let Some(function) = next.and_then(|number| self.functions.get_mut(number)) {
            let known = match function.known.take() {
                Some(known) => known,
                None => {
                    let named = scopes::named(unit, function.offset.0)?;
                    let Some(name) = named.of_linker_or_source() else { return Ok(None) };
                    (
                        name,
                        function
                            .around
                            .map(|_| called(unit, function.offset, &mut self.files))
                            .transpose()?,
                    )
                }
            };
            let (name, of_this) = function.known.insert(known);
            if frames.len() == DEEPEST {
                return Ok(None);
            }
            frames.push(NestedFrame { name: *name, offset: function.offset, language: self.language, call });
            call = of_this.clone();
            next = function.around;
        }
        Ok(Some(frames).filter(|frames| !frames.is_empty()))
    }
}

/// Reads where an inlined function was called. The paths in `files` are known.
fn called(
    unit: UnitRef<'_, Metered<'_>>,
    inlined: UnitOffset,
    files: &mut HashMap<u64, Option<Arc<str>>>,
) -> Result<InlineCall, Error> {
    let inlined = unit.entry(inlined)?;
    let number = |name| {
        let value = inlined.attr(name).and_then(gimli::Attribute::udata_value)?;
        u32::try_from(value).ok()
    };
    let file = match inlined.attr_value(constants::DW_AT_call_file) {
        Some(AttributeValue::FileIndex(file)) if file > 0 => match files.get(&file) {
            Some(path) => path.clone(),
            None => files.entry(file).or_insert(path(unit, file)?).clone(),
        },
        _ => None,
    };
    Ok(InlineCall {
        file,
        line: number(constants::DW_AT_call_line),
        column: number(constants::DW_AT_call_column),
    })
}

/// Returns the path of a source, as addr2line has it: with the folder of the compilation if it is relative.
fn path(unit: UnitRef<'_, Metered<'_>>, file: u64) -> Result<Option<Arc<str>>, Error> {
    let Some(header) = unit.line_program.as_ref().map(gimli::IncompleteLineProgram::header) else {
        return Ok(None);
    };
    let Some(file) = header.file(file) else { return Ok(None) };
    let folder = file.directory(header).filter(|_| file.directory_index() != 0);
    let folder = folder.map(|folder| unit.attr_string(folder)).transpose()?;
    let mut path = String::new();
    for part in [unit.comp_dir, folder, Some(unit.attr_string(file.path_name())?)].into_iter().flatten() {
        let part = part.to_string_lossy()?;
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(&part);
    }
    Ok(Some(path.into()))
}

/// Returns the function with the smallest range from each address on; of several, the last in the file.
fn innermost(ranges: &[(Range, usize)]) -> Vec<(u64, Option<usize>)> {
    let mut edges: Vec<(u64, bool, usize)> = Vec::new();
    for (place, (range, _)) in ranges.iter().enumerate().filter(|(_, (range, _))| range.begin < range.end) {
        edges.push((range.begin, true, place));
        edges.push((range.end, false, place));
    }
    edges.sort_unstable();
    let mut here: BTreeSet<(u64, Reverse<usize>)> = BTreeSet::new();
    let mut innermost = Vec::new();
    for at in edges.chunk_by(|one, next| one.0 == next.0) {
        for &(_, begins, place) in at {
            let Some((range, _)) = ranges.get(place) else { continue };
            let key = (range.end.saturating_sub(range.begin), Reverse(place));
            if begins {
                here.insert(key)
            } else {
                here.remove(&key)
            };
        }
        let smallest = here.first().and_then(|(_, place)| ranges.get(place.0));
        innermost.extend(at.first().map(|&(address, ..)| (address, smallest.map(|&(_, number)| number))));
    }
    innermost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_range_has_an_address() {
        let range = |begin, end, number| (Range { begin, end }, number);
        let ranges = [
            range(10, 30, 0),
            range(12, 20, 1),
            range(12, 20, 2),
            range(25, 35, 3),
            range(15, 15, 4),
            range(40, 41, 5),
        ];
        assert_eq!(
            innermost(&ranges),
            [
                (10, Some(0)),
                (12, Some(2)),
                (20, Some(0)),
                (25, Some(3)),
                (30, Some(3)),
                (35, None),
                (40, Some(5)),
                (41, None)
            ]
        );
        assert_eq!(innermost(&[]), []);
    }
}
