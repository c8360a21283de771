//! A list that usually has one item, stored inline without an allocation of its own.

use std::mem::take;
use std::ops::{Deref, DerefMut};

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum SmallList<T> {
    #[default]
    None,
    One(T),
    // Behind one pointer, so that the common case of a single item does not get larger.
    #[allow(clippy::box_collection, reason = "see above")]
    Others(Box<Vec<T>>),
}

impl<T> SmallList<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.insert(self.len(), item);
    }

    /// Inserts an item before `place`.
    ///
    /// # Panics
    /// If `place` is past the end.
    pub(crate) fn insert(&mut self, place: usize, item: T) {
        *self = match take(self) {
            Self::None => {
                assert!(place == 0, "there is no place {place}");
                Self::One(item)
            }
            Self::One(one) => {
                let mut list = vec![one];
                list.insert(place, item);
                Self::Others(list.into())
            }
            Self::Others(mut list) => {
                list.insert(place, item);
                Self::Others(list)
            }
        };
    }

    /// Removes the item at `place`.
    ///
    /// # Panics
    /// If there is no such item.
    pub(crate) fn remove(&mut self, place: usize) {
        let mut nth = 0..;
        assert!(place < self.len(), "there is no place {place}");
        self.retain(|_| nth.next() != Some(place));
    }

    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        *self = match take(self) {
            Self::One(one) if keeps(&one) => Self::One(one),
            Self::None | Self::One(_) => Self::None,
            Self::Others(mut list) => {
                list.retain(keeps);
                if list.len() > 1 { Self::Others(list) } else { list.pop().map_or(Self::None, Self::One) }
            }
        };
    }
}

impl<T> Deref for SmallList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(one) => std::slice::from_ref(one),
            Self::Others(list) => list,
        }
    }
}

impl<T> DerefMut for SmallList<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::None => &mut [],
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
        let (mut few, mut list) = (SmallList::default(), Vec::new());
        let check = |few: &SmallList<u64>, list: &Vec<u64>| {
            assert_eq!(**few, **list);
            assert_eq!(matches!(few, SmallList::One(_)), list.len() == 1, "{few:?}");
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
    fn it_takes_no_more_than_one_item_and_what_tells_that_it_is_one() {
        assert_eq!([size_of::<SmallList<u64>>(), size_of::<SmallList<[u64; 2]>>()], [16, 24]);
        assert_eq!(size_of::<SmallList<(u64, bool)>>(), 16);
    }
}
