//! A slab of things that are found by their names. The hash table stores only their slab places, four bytes each,
//! because it has up to twice as many buckets as entries, and there may be as many entries as people.

use crate::hashing::SecretHash;
use crate::sizes::{list_bytes, places_bytes};
use hashbrown::HashTable;
use slab::Slab;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Something with a name that does not change.
pub(crate) trait Named {
    fn name(&self) -> &Arc<str>;
}

/// See the module.
pub(crate) struct NamedSlab<T> {
    things: Slab<T>,
    by_name: HashTable<u32>,
    hash: SecretHash,
    /// The number of slab places that were ever in use.
    places: usize,
}

impl<T: Named> NamedSlab<T> {
    pub(crate) fn new(hash: SecretHash) -> NamedSlab<T> {
        NamedSlab { things: Slab::new(), by_name: HashTable::new(), hash, places: 0 }
    }

    /// Returns the place of the entry with that name.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let found =
            self.by_name.find(self.hash.of(name), |place| **self.things[*place as usize].name() == *name);
        found.map(|place| *place as usize)
    }

    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.things.get(place)
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.things.get_mut(place)
    }

    /// Adds an entry and returns its place. There must be no entry with its name yet.
    pub(crate) fn insert(&mut self, thing: T) -> usize {
        let hash = self.hash.of(thing.name());
        let place = self.things.insert(thing);
        self.places = self.places.max(place + 1);
        let (things, secret) = (&self.things, self.hash);
        self.by_name.insert_unique(hash, place as u32, |place| secret.of(things[*place as usize].name()));
        place
    }

    /// Removes an entry.
    ///
    /// # Panics
    /// If there is no entry at that place.
    pub(crate) fn remove(&mut self, place: usize) -> T {
        let thing = self.things.remove(place);
        let entry = self.by_name.find_entry(self.hash.of(thing.name()), |known| *known as usize == place);
        entry.expect("what has a place is in the table").remove();
        thing
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter().map(|(_, thing)| thing)
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.things.is_empty() && self.by_name.is_empty()
    }

    /// Returns the number of places that were ever in use.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Returns the memory of the slab and the table, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        // The slab marks vacant places in the niche of a pointer.
        let place = size_of::<Option<T>>();
        list_bytes(self.things.capacity() * place, self.places * place, 0) + places_bytes(&self.by_name)
    }
}

impl<T> Index<usize> for NamedSlab<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        &self.things[place]
    }
}

impl<T> IndexMut<usize> for NamedSlab<T> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.things[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Named for Arc<str> {
        fn name(&self) -> &Arc<str> {
            self
        }
    }

    #[test]
    fn what_is_there_is_found_by_its_name_whatever_came_and_went_before() {
        let mut slab = NamedSlab::new(SecretHash(7));
        let name = |nth: usize| format!("topic {nth}");
        let places: Vec<usize> = (0..1_000).map(|nth| slab.insert(Arc::from(name(nth)))).collect();
        for (nth, place) in places.iter().enumerate().filter(|(nth, _)| nth % 3 == 0) {
            assert_eq!(*slab.remove(*place), *name(nth));
        }
        for (nth, place) in places.iter().enumerate() {
            assert_eq!(slab.find(&name(nth)), (nth % 3 != 0).then_some(*place));
        }
        let again = slab.insert(Arc::from(name(0)));
        assert_eq!((slab.find(&name(0)), slab.len(), slab.places()), (Some(again), 667, 1_000));
    }
}
