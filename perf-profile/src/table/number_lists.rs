//! Lists of numbers, one after the other.

/// Lists of numbers, which are numbered themselves, in the order in which they came.
#[derive(Debug, Default)]
pub struct NumberLists {
    values: Vec<u32>,
    /// The place in the values at which each list ends, and the next one begins.
    ends: Vec<u32>,
}

impl NumberLists {
    /// Returns the number of lists.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "no caller asks")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of values of all lists.
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// Returns a list; an empty one for a number that is none.
    #[inline]
    pub fn get(&self, list: u32) -> &[u32] {
        let end_of = |list: Option<u32>| list.and_then(|it| self.ends.get(it as usize)).map_or(0, |&end| end);
        self.values.get(end_of(list.checked_sub(1)) as usize..end_of(Some(list)) as usize).unwrap_or_default()
    }

    /// Adds a list, and returns its number.
    #[inline]
    pub fn push(&mut self, values: impl IntoIterator<Item = u32>) -> u32 {
        self.values.extend(values);
        self.ends.push(self.values.len() as u32);
        self.ends.len() as u32 - 1
    }

    /// Returns the lists from a number on.
    pub fn since(&self, first: usize) -> Self {
        let mut lists = Self::default();
        for list in first..self.len() {
            lists.push(self.get(list as u32).iter().copied());
        }
        lists
    }
}
