//! A list that has one item most of the time, which then takes no block of its own.

use std::mem::take;
use std::ops::{Deref, DerefMut};

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Few<T> {
    One(T),
    Others(Vec<T>),
}

impl<T> Few<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.insert(self.len(), item);
    }

    /// # Panics
    /// There is no such place.
    pub(crate) fn insert(&mut self, place: usize, item: T) {
        *self = match take(self) {
            Self::Others(list) if list.is_empty() && place == 0 => Self::One(item),
            Self::One(one) => {
                let mut list = vec![one];
                list.insert(place, item);
                Self::Others(list)
            }
            Self::Others(mut list) => {
                list.insert(place, item);
                Self::Others(list)
            }
        };
    }

    /// # Panics
    /// There is no such place.
    pub(crate) fn remove(&mut self, place: usize) {
        let mut nth = 0..;
        assert!(place < self.len(), "there is no place {place}");
        self.retain(|_| nth.next() != Some(place));
    }

    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        *self = match take(self) {
            Self::One(one) if keeps(&one) => Self::One(one),
            Self::One(_) => Self::default(),
            Self::Others(mut list) => {
                list.retain(keeps);
                list.into()
            }
        };
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(mut list: Vec<T>) -> Self {
        match list.len() {
            0 => Self::Others(Vec::new()),
            1 => list.pop().map_or_else(Self::default, Self::One),
            _ => Self::Others(list),
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::Others(Vec::new())
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Others(list) => list,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => std::slice::from_mut(one),
            Self::Others(list) => list,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_a_list_holds_and_one_item_in_itself() {
        let (mut few, mut list) = (Few::default(), Vec::new());
        let check = |few: &Few<u64>, list: &Vec<u64>| {
            assert_eq!(**few, **list);
            assert_eq!(matches!(few, Few::One(_)), list.len() == 1, "{few:?}");
        };
        for (place, item) in [(0, 5), (0, 3), (1, 4), (3, 6)] {
            few.insert(place, item);
            list.insert(place, item);
            check(&few, &list);
        }
        few.retain(|item| *item != 4);
        list.retain(|item| *item != 4);
        check(&few, &list);
        for place in [1, 1, 0] {
            few.remove(place);
            list.remove(place);
            check(&few, &list);
        }
        few.push(7);
        few[0] += 1;
        check(&few, &vec![8]);
    }

    #[test]
    fn it_is_no_larger_than_a_list() {
        assert_eq!(size_of::<Few<[u64; 2]>>(), size_of::<Vec<[u64; 2]>>());
    }
}
