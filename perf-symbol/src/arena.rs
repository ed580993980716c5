//! Values that are added to a shared list, and stay where they are.

use std::sync::OnceLock;

/// A list to which values are added through a shared reference. They live as long as the list.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    first: Link<T>,
}

type Link<T> = OnceLock<Box<ArenaNode<T>>>;

#[derive(Debug)]
struct ArenaNode<T> {
    value: T,
    next: Link<T>,
}

impl<T> Arena<T> {
    /// Adds a value; `None` never happens. Takes time in proportion to the number of values before it.
    pub(crate) fn add(&self, value: T) -> Option<&T> {
        let mut node = Box::new(ArenaNode { value, next: Link::new() });
        let mut link = &self.first;
        while let Err(back) = link.set(node) {
            node = back;
            link = &link.get()?.next;
        }
        Some(&link.get()?.value)
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { first: Link::new() }
    }
}

impl<T> Drop for Arena<T> {
    /// One after the other: that each node drops the next one would take stack for all of them.
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay() {
        let arena = Arena::default();
        let values: Vec<_> = (0..10).map(|number| arena.add(number.to_string()).unwrap()).collect();
        assert!(values.into_iter().enumerate().all(|(number, value)| *value == number.to_string()));
    }

    #[test]
    fn a_long_list_is_dropped() {
        let arena = Arena::default();
        let mut link = &arena.first;
        for number in 0..1_000_000 {
            link.set(Box::new(ArenaNode { value: number, next: Link::new() })).unwrap();
            link = &link.get().unwrap().next;
        }
    }
}
