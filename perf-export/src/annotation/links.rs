//! Functions of a page by their addresses and names.

use hashbrown::HashMap;
use perf_profile::annotation::{AnnotatedTarget, Annotation};

/// The functions of a page, to which calls lead.
#[derive(Debug)]
pub(super) struct FunctionLinks<'a> {
    annotations: &'a [Annotation],
    /// Indices, in the order of the files and addresses.
    by_address: Vec<u32>,
    /// The index of the only function with a name; `None` if several have it.
    by_name: HashMap<&'a [u8], Option<u32>>,
}

impl<'a> FunctionLinks<'a> {
    pub(super) fn of(annotations: &'a [Annotation]) -> Self {
        let mut by_name: HashMap<&[u8], Option<u32>> = HashMap::new();
        for (annotation, index) in annotations.iter().zip(0..) {
            by_name.entry(&annotation.symbol).and_modify(|it| *it = None).or_insert(Some(index));
        }
        let place = |it: &Annotation| (it.dso.clone(), it.start);
        let mut by_address: Vec<_> = (0..annotations.len() as u32).collect();
        by_address.sort_by_cached_key(|&index| annotations.get(index as usize).map(place));
        Self { annotations, by_address, by_name }
    }

    /// Returns the function that a branch in a file leads to, and the instruction there, as indices. A call through the procedure linkage table leads to
    /// the function of the same name in another file, if there is one such function.
    pub(super) fn target(&self, dso: &[u8], target: &AnnotatedTarget) -> Option<(u32, usize)> {
        let at = |index: u32| self.annotations.get(index as usize);
        let is_before =
            |index: &u32| at(*index).is_some_and(|it| (&*it.dso, it.start) <= (dso, target.address));
        let after = self.by_address.partition_point(is_before);
        let before = after.checked_sub(1).and_then(|before| self.by_address.get(before).copied());
        let is_inside = |index: &u32| at(*index).is_some_and(|it| *it.dso == *dso && target.address < it.end);
        if let Some(index) = before.filter(is_inside) {
            let instruction = at(index).and_then(|it| it.instruction_at(target.address));
            return Some((index, instruction.unwrap_or(0)));
        }
        let name = target.name.strip_suffix(b"@plt")?;
        self.by_name.get(name).copied().flatten().map(|index| (index, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(symbol: &[u8], dso: &[u8], start: u64) -> Annotation {
        let mut annotation = Annotation::default();
        annotation.symbol = symbol.into();
        annotation.dso = dso.into();
        (annotation.start, annotation.end) = (start, start + 0x10);
        annotation
    }

    #[test]
    fn calls_lead_to_functions_of_the_file_and_of_libraries() {
        let functions = [
            function(b"main", b"/a", 0x2000),
            function(b"work", b"/a", 0x1000),
            function(b"read", b"/libc.so", 0x1000),
            function(b"init", b"/a", 0x3000),
            function(b"init", b"/libc.so", 0x3000),
        ];
        let links = FunctionLinks::of(&functions);
        let target = |address, name: &[u8]| {
            let mut target = AnnotatedTarget::default();
            (target.address, target.name) = (address, name.into());
            links.target(b"/a", &target).map(|(function, _)| function)
        };
        assert_eq!(target(0x1000, b"work"), Some(1));
        assert_eq!(target(0x200f, b""), Some(0));
        assert_eq!(target(0x2010, b""), None);
        assert_eq!(target(0xfff, b"read"), None);
        assert_eq!(target(0x500, b"read@plt"), Some(2));
        assert_eq!(target(0x500, b"init@plt"), None);
    }
}
