//! A dense table in chunks: places are indices, freed places are reused, and growing never copies existing items.

/// Items per chunk. Doubling a single vector would need up to half again of all memory in use while it is copied.
const CHUNK_LEN: usize = 1024;

/// A table of items by place.
#[derive(Debug)]
pub(crate) struct UserSlab<T> {
    chunks: Vec<Vec<Option<T>>>,
    free: Vec<u32>,
    len: usize,
}

impl<T> UserSlab<T> {
    pub(crate) fn new() -> Self {
        Self { chunks: Vec::new(), free: Vec::new(), len: 0 }
    }

    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns an upper bound of the places in use.
    pub(crate) fn places(&self) -> u32 {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK_LEN + last.len()) as u32
    }

    /// Returns the memory of the table in bytes, without what the items point to. It never shrinks.
    pub(crate) fn bytes(&self) -> usize {
        let chunks = self.chunks.len() * CHUNK_LEN * size_of::<Option<T>>();
        chunks
            + self.chunks.capacity() * size_of::<Vec<Option<T>>>()
            + self.free.capacity() * size_of::<u32>()
    }

    /// Inserts an item and returns its place.
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        self.len += 1;
        if let Some(place) = self.free.pop() {
            if let Some(entry) = self.entry(place) {
                *entry = Some(item);
            }
            return place;
        }
        if self.chunks.last().is_none_or(|last| last.len() == CHUNK_LEN) {
            self.chunks.push(Vec::with_capacity(CHUNK_LEN));
        }
        let place = self.places();
        if let Some(last) = self.chunks.last_mut() {
            last.push(Some(item));
        }
        place
    }

    /// Returns the item at a place.
    pub(crate) fn item(&self, place: u32) -> Option<&T> {
        let place = place as usize;
        self.chunks.get(place / CHUNK_LEN)?.get(place % CHUNK_LEN)?.as_ref()
    }

    /// Returns the item at a place.
    pub(crate) fn item_mut(&mut self, place: u32) -> Option<&mut T> {
        self.entry(place)?.as_mut()
    }

    /// Removes the item at a place.
    pub(crate) fn remove(&mut self, place: u32) -> Option<T> {
        let item = self.entry(place)?.take()?;
        self.free.push(place);
        self.len -= 1;
        Some(item)
    }

    fn entry(&mut self, place: u32) -> Option<&mut Option<T>> {
        let place = place as usize;
        self.chunks.get_mut(place / CHUNK_LEN)?.get_mut(place % CHUNK_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_chunks_follow_each_other() {
        let mut roster = UserSlab::new();
        assert_eq!(roster.bytes(), 0);
        let places: Vec<u32> = (0..3 * CHUNK_LEN as u32).map(|item| roster.insert(item)).collect();
        assert!(roster.bytes() >= 3 * CHUNK_LEN * size_of::<Option<u32>>());
        assert_eq!(places, (0..3 * CHUNK_LEN as u32).collect::<Vec<_>>());
        assert_eq!(roster.remove(1500), Some(1500));
        assert_eq!(roster.remove(1500), None);
        assert_eq!((roster.len(), roster.item(1500)), (3 * CHUNK_LEN - 1, None));
        assert_eq!(roster.insert(9), 1500);
        assert_eq!(roster.item_mut(1500), Some(&mut 9));
        assert_eq!(roster.places(), 3 * CHUNK_LEN as u32);
        assert_eq!(roster.item(u32::MAX), None);
    }
}
