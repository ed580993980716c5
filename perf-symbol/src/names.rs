//! Names that are kept once each.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::demangle::in_form;
use crate::spelling::Form;
use crate::symtab::LONGEST_NAME;

/// Number of bytes of a name up to which it does not count as long.
pub(crate) const SHORT: usize = 512;

/// What is put in place of the rest of a name that is cut.
const MARK: &[u8] = b"...";

/// Returns whether a name may be one that was cut. With more room for long names, it would have been longer.
pub(crate) fn may_be_cut(name: &[u8]) -> bool {
    name.len() >= SHORT && name.ends_with(MARK)
}

/// Names that are kept once each, with their demangled forms.
///
/// All long names together have at most so many bytes: where names are ends of each other, as in a string table, a few bytes
/// are many long names. Further long names are cut.
#[derive(Debug)]
pub(crate) struct NameCache {
    short: HashMap<Arc<[u8]>, Arc<[u8]>>,
    full: HashMap<Arc<[u8]>, Arc<[u8]>>,
    recorded: HashMap<Arc<[u8]>, Arc<[u8]>>,
    /// Texts that are not demangled.
    texts: HashSet<Arc<[u8]>>,
    recent: RecentNames,
    /// Number of bytes that further long names may have. Clearing does not restore it: others may still use the names.
    room: usize,
}

impl NameCache {
    /// Starts without names. Long names may have `room` bytes together.
    pub(crate) fn new(room: usize) -> Self {
        let [short, full, recorded] = core::array::from_fn(|_| HashMap::new());
        Self { short, full, recorded, texts: HashSet::new(), recent: RecentNames::default(), room }
    }

    /// Returns a name, and as people read it. Without a form, it is not demangled.
    pub(crate) fn get(&mut self, name: &[u8], form: Option<Form>, limit: usize) -> (Arc<[u8]>, Arc<[u8]>) {
        let Some(form) = form else {
            let name = self.share(name);
            return (Arc::clone(&name), name);
        };
        if let Some(RecentName { raw, shown, .. }) = self.recent.get(name, Some(form)) {
            return (Arc::clone(raw), Arc::clone(shown));
        }
        let (raw, shown) = self.find(name, form, limit);
        self.recent.add(name, Some(form), &raw, &shown);
        (raw, shown)
    }

    fn find(&mut self, name: &[u8], form: Form, limit: usize) -> (Arc<[u8]>, Arc<[u8]>) {
        let name = self.within(name);
        let known = match form {
            Form::Short => &self.short,
            Form::Enclosing | Form::Full => &self.full,
            Form::Recorded => &self.recorded,
        };
        if let Some((raw, shown)) = known.get_key_value(&*name) {
            return (Arc::clone(raw), Arc::clone(shown));
        }
        let raw: Arc<[u8]> = Arc::from(&*name);
        let shown = match in_form(&name, limit, form) {
            Cow::Borrowed(_) => Arc::clone(&raw),
            Cow::Owned(shown) => Arc::from(&*self.within(&shown)),
        };
        self.take(&raw);
        if !Arc::ptr_eq(&raw, &shown) {
            self.take(&shown);
        }
        let known = match form {
            Form::Short => &mut self.short,
            Form::Enclosing | Form::Full => &mut self.full,
            Form::Recorded => &mut self.recorded,
        };
        known.insert(Arc::clone(&raw), Arc::clone(&shown));
        (raw, shown)
    }

    /// Returns a text that is not demangled, such as a path.
    pub(crate) fn share(&mut self, text: &[u8]) -> Arc<[u8]> {
        if let Some(recent) = self.recent.get(text, None) {
            return Arc::clone(&recent.raw);
        }
        let shared = self.find_text(text);
        self.recent.add(text, None, &shared, &shared);
        shared
    }

    fn find_text(&mut self, text: &[u8]) -> Arc<[u8]> {
        let text = self.within(text);
        if let Some(known) = self.texts.get(&*text) {
            return Arc::clone(known);
        }
        let shared: Arc<[u8]> = Arc::from(&*text);
        self.take(&shared);
        self.texts.insert(Arc::clone(&shared));
        shared
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        let forms = [&self.short, &self.full, &self.recorded].map(HashMap::len);
        forms.into_iter().chain([self.texts.len()]).fold(0, usize::saturating_add)
    }

    /// Forgets all names. Those that are in use stay.
    pub(crate) fn clear(&mut self) {
        self.short.clear();
        self.full.clear();
        self.recorded.clear();
        self.texts.clear();
        self.recent = RecentNames::default();
    }

    /// Returns a name, or its start and a mark if there is no room for it.
    fn within<'n>(&self, name: &'n [u8]) -> Cow<'n, [u8]> {
        if name.len() <= SHORT || name.len() <= self.room && name.len() < LONGEST_NAME {
            return Cow::Borrowed(name);
        }
        let most = if self.room < LONGEST_NAME { SHORT } else { LONGEST_NAME };
        let start = name.get(..most.saturating_sub(MARK.len())).unwrap_or_default();
        Cow::Owned([start, MARK].concat())
    }

    /// Counts a name that is kept.
    fn take(&mut self, name: &[u8]) {
        if name.len() > SHORT {
            self.room = self.room.saturating_sub(name.len());
        }
    }
}

/// Short names by the places that they were read from: sections of files, mostly. A name at the same place is compared, but
/// neither hashed nor looked for among all.
#[derive(Debug, Default)]
struct RecentNames {
    /// Empty until the first is added.
    slots: Box<[Option<RecentName>]>,
}

#[derive(Debug)]
struct RecentName {
    place: usize,
    form: Option<Form>,
    raw: Arc<[u8]>,
    shown: Arc<[u8]>,
}

impl RecentNames {
    /// Number of names: what fits into a fast cache.
    const SLOTS: usize = 1 << 10;

    fn slot(place: usize) -> usize {
        // Fibonacci hashing: places of names are close to each other.
        let hash = (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(hash >> 32).unwrap_or_default() % Self::SLOTS
    }

    fn get(&self, name: &[u8], form: Option<Form>) -> Option<&RecentName> {
        let place = name.as_ptr().addr();
        let recent = self.slots.get(Self::slot(place))?.as_ref()?;
        // The place may have had other bytes before.
        (recent.place == place && recent.form == form && *recent.raw == *name).then_some(recent)
    }

    fn add(&mut self, name: &[u8], form: Option<Form>, raw: &Arc<[u8]>, shown: &Arc<[u8]>) {
        if name.len() > SHORT {
            return;
        }
        if self.slots.is_empty() {
            self.slots = (0..Self::SLOTS).map(|_| None).collect();
        }
        let place = name.as_ptr().addr();
        if let Some(slot) = self.slots.get_mut(Self::slot(place)) {
            *slot = Some(RecentName { place, form, raw: Arc::clone(raw), shown: Arc::clone(shown) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT_FORM: Option<Form> = Some(Form::Short);

    fn len(names: &mut NameCache, name: &[u8]) -> usize {
        names.get(name, SHORT_FORM, 1 << 14).0.len()
    }

    #[test]
    fn long_names_are_bounded_together() {
        let mut names = NameCache::new(2 * LONGEST_NAME);
        let long = vec![b'n'; LONGEST_NAME - 1];
        assert_eq!([len(&mut names, &long), len(&mut names, &long)], [LONGEST_NAME - 1; 2], "one, twice");
        assert_eq!(len(&mut names, &long[1..]), LONGEST_NAME - 2);
        let cut = names.get(&long[2..], SHORT_FORM, 1 << 14).0;
        assert_eq!((cut.len(), &cut[SHORT - 4..]), (SHORT, &b"n..."[..]));
        assert_eq!(*names.share(&long[3..]), *cut);
        assert_eq!(len(&mut names, &long[..SHORT]), SHORT, "a short one is whole");
        names.clear();
        assert_eq!(len(&mut names, &long[2..]), SHORT);
    }

    #[test]
    fn a_name_is_cut() {
        let mut names = NameCache::new(usize::MAX);
        for more in [0, 1, LONGEST_NAME] {
            let name = names.share(&vec![b'n'; LONGEST_NAME + more]);
            assert_eq!((name.len(), name.ends_with(b"n...")), (LONGEST_NAME, true));
        }
    }

    /// A name is found at the place where it was, in each form; another one at that place is another one.
    #[test]
    fn names_at_the_same_place() {
        let mut names = NameCache::new(usize::MAX);
        let mut bytes = *b"_Z1fv";
        let of = |names: &mut NameCache, bytes: &[u8], form| names.get(bytes, form, 1 << 14).1.to_vec();
        for _ in 0..2 {
            assert_eq!(of(&mut names, &bytes, Some(Form::Full)), b"f()");
            assert_eq!(of(&mut names, &bytes, None), b"_Z1fv");
            assert_eq!(of(&mut names, &bytes, SHORT_FORM), b"f");
            assert_eq!(*names.share(&bytes[..3]), *b"_Z1");
        }
        let before = names.share(&bytes);
        assert!(Arc::ptr_eq(&before, &names.share(&bytes)) && Arc::ptr_eq(&before, &names.share(b"_Z1fv")));
        bytes[3] = b'g';
        assert_eq!(
            (of(&mut names, &bytes, SHORT_FORM), &*names.share(&bytes)),
            (b"g".to_vec(), &b"_Z1gv"[..])
        );
        names.clear();
        bytes[3] = b'f';
        assert!(!Arc::ptr_eq(&before, &names.share(&bytes)), "nothing is kept");
    }

    /// What is demangled may be far longer.
    #[test]
    fn demangled_names_count() {
        // f<P<int, int>, P<P<int, int>, P<int, int> >, ...>: each argument has the one before it twice.
        let raw = b"_Z1fI1PIiiES0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_EEvv";
        let whole = NameCache::new(1 << 14).get(raw, SHORT_FORM, 1 << 14).1;
        assert!(whole.len() > SHORT && whole.starts_with(b"f<P<int, int>, P<P<int"));
        let mut names = NameCache::new(whole.len());
        assert_eq!(names.get(raw, SHORT_FORM, 1 << 14).1, whole);
        let (name, shown) =
            names.get(&raw.map(|byte| if byte == b'f' { b'g' } else { byte }), SHORT_FORM, 1 << 14);
        assert_eq!((name.len(), shown.len()), (raw.len(), SHORT));
    }
}
