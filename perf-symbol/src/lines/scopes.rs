//! The namespaces, classes and functions that a function is declared in, by the tree of DIEs of its unit.

use std::cell::RefCell;

use gimli::{AttributeValue, DwTag, Error, UnitOffset, UnitRef, constants};
use hashbrown::HashMap;

use crate::budget::Metered;
use crate::demangle::in_form;
use crate::spelling::Form;

/// Number of scopes that a function is nested in, and of DIEs that lead to its name.
const NESTING: usize = 64;

/// Number of bytes of a name.
const LONGEST: usize = 1 << 12;

/// The scopes of units, by the address of each unit, found when a function of it needs them.
#[derive(Debug, Default)]
pub(super) struct Scopes(RefCell<HashMap<usize, Option<UnitScopes>>>);

/// The DIEs of a unit that can contain functions, and its functions, in the order of the file.
#[derive(Debug)]
struct UnitScopes(Vec<Scope>);

#[derive(Clone, Copy, Debug)]
struct Scope {
    offset: usize,
    /// The number of the scope around it; [`NONE`] for those of the unit.
    parent: u32,
    tag: DwTag,
    /// The number of this one among the classes around it that have no name.
    unnamed: u32,
}

const NONE: u32 = u32::MAX;

/// What a DIE and those that it refers to have.
#[derive(Debug, Default)]
pub(super) struct ScopeChild<'a> {
    linkage: Option<Metered<'a>>,
    name: Option<Metered<'a>>,
    /// The last one, which is where the scopes of a function show its place in the source.
    offset: usize,
}

impl<'a> ScopeChild<'a> {
    /// Returns the name as the linker has it, or else as the source has it.
    pub(super) fn of_linker_or_source(&self) -> Option<Metered<'a>> {
        self.linkage.or(self.name)
    }
}

impl Scopes {
    /// Returns the name of the function at an offset in a unit, with its namespaces and classes; `None` if the function has a
    /// name for the linker, which has them, or none at all. Reads the DIEs of the unit when it is needed first.
    pub(super) fn name(&self, unit: UnitRef<'_, Metered<'_>>, offset: UnitOffset) -> Option<Vec<u8>> {
        let key = std::ptr::from_ref(unit.unit).addr();
        let mut units = self.0.borrow_mut();
        let scopes = units.entry(key).or_insert_with(|| UnitScopes::of(unit).ok());
        scopes.as_ref()?.name(unit, offset.0).ok()?
    }
}

impl UnitScopes {
    fn of(unit: UnitRef<'_, Metered<'_>>) -> Result<Self, Error> {
        let mut scopes: Vec<Scope> = Vec::new();
        // The scopes around the next DIE, with their depths and the number of their classes without a name.
        let mut around: Vec<(isize, u32, u32)> = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset().0, entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            // Also before what is no scope: that may be a block, with scopes of its own.
            while around.last().is_some_and(|&(of, ..)| of >= depth) {
                around.pop();
            }
            let tag = abbreviation.tag();
            if is_scope(tag) {
                let has_name = abbreviation.attributes().iter().any(|it| it.name() == constants::DW_AT_name);
                let mut unnamed = 0;
                if let Some((.., count)) = around.last_mut().filter(|_| is_class(tag) && !has_name) {
                    *count = count.saturating_add(1);
                    unnamed = *count;
                }
                let parent = around.last().map_or(NONE, |&(_, number, _)| number);
                around.push((depth, u32::try_from(scopes.len()).unwrap_or(NONE), 0));
                scopes.push(Scope { offset, parent, tag, unnamed });
            }
            entries.skip_attributes(abbreviation.attributes())?;
        }
        Ok(Self(scopes))
    }

    fn at(&self, offset: usize) -> Option<&Scope> {
        let place = self.0.binary_search_by_key(&offset, |scope| scope.offset).ok()?;
        self.0.get(place)
    }

    fn name(&self, unit: UnitRef<'_, Metered<'_>>, offset: usize) -> Result<Option<Vec<u8>>, Error> {
        let function = named(unit, offset)?;
        let (None, Some(name)) = (function.linkage, function.name) else { return Ok(None) };
        let mut parts: Vec<Vec<u8>> = vec![name.slice().to_vec()];
        let mut scope = self.at(function.offset).and_then(|it| self.parent(it));
        while let Some(of) = scope.filter(|_| parts.len() < NESTING) {
            let named = named(unit, of.offset)?;
            match (named.linkage, named.name) {
                // It has all that is around it.
                (Some(linkage), _) => {
                    parts.push(in_form(linkage.slice(), LONGEST, Form::Enclosing).into_owned());
                    break;
                }
                (None, Some(name)) => parts.push(name.slice().to_vec()),
                (None, None) if of.tag == constants::DW_TAG_namespace => {
                    parts.push(b"(anonymous namespace)".to_vec());
                }
                (None, None) => parts.push(without_name(of, parts.last().map_or(&[], |part| part))),
            }
            // A class may be declared in one place and defined in another.
            scope = self.at(named.offset).or(Some(of)).and_then(|it| self.parent(it));
        }
        parts.reverse();
        let name = parts.join(&b"::"[..]);
        Ok((name.len() <= LONGEST).then_some(name))
    }

    fn parent(&self, scope: &Scope) -> Option<&Scope> {
        self.0.get(usize::try_from(scope.parent).ok()?)
    }
}

/// Returns the name of a class without one, which contains the function or class `inner`. Compilers give none to lambdas.
fn without_name(scope: &Scope, inner: &[u8]) -> Vec<u8> {
    let what = if inner.starts_with(b"operator()") { "lambda" } else { "unnamed" };
    match scope.unnamed {
        0 | 1 => format!("{{{what}}}").into_bytes(),
        number => format!("{{{what}#{number}}}").into_bytes(),
    }
}

fn is_class(tag: DwTag) -> bool {
    use constants::{
        DW_TAG_class_type, DW_TAG_enumeration_type, DW_TAG_interface_type, DW_TAG_structure_type,
        DW_TAG_union_type,
    };
    [
        DW_TAG_class_type,
        DW_TAG_structure_type,
        DW_TAG_union_type,
        DW_TAG_interface_type,
        DW_TAG_enumeration_type,
    ]
    .contains(&tag)
}

fn is_scope(tag: DwTag) -> bool {
    is_class(tag)
        || [constants::DW_TAG_namespace, constants::DW_TAG_module, constants::DW_TAG_subprogram]
            .contains(&tag)
}

/// Reads a DIE, and those of the unit that it is a copy or a definition of.
pub(super) fn named<'a>(unit: UnitRef<'_, Metered<'a>>, offset: usize) -> Result<ScopeChild<'a>, Error> {
    let mut found = ScopeChild { offset, ..ScopeChild::default() };
    for _ in 0..NESTING {
        let mut entries = unit.entries_raw(Some(UnitOffset(found.offset)))?;
        let Some(abbreviation) = entries.read_abbreviation()? else { break };
        let mut next = None;
        for attribute in abbreviation.attributes() {
            let attribute = entries.read_attribute(*attribute)?;
            match attribute.name() {
                constants::DW_AT_linkage_name | constants::DW_AT_MIPS_linkage_name => {
                    found.linkage = found.linkage.or(unit.attr_string(attribute.value()).ok());
                }
                constants::DW_AT_name => {
                    found.name = found.name.or(unit.attr_string(attribute.value()).ok());
                }
                constants::DW_AT_abstract_origin | constants::DW_AT_specification => {
                    next = Some(attribute.value());
                }
                _ => {}
            }
        }
        match next {
            Some(AttributeValue::UnitRef(offset)) => found.offset = offset.0,
            // One of another unit, whose scopes are not known here.
            _ => break,
        }
    }
    Ok(found)
}
