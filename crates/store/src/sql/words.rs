//! What the search indexes store of a text.

use chat::CommunityId;
use chat::rows::words;
use std::fmt::Write as _;

/// A word that identifies a community, so that its index entries are found without looking at others'. It contains a
/// private-use character, which no word of a text has.
pub(crate) fn scope(community: &CommunityId) -> String {
    community.as_str().bytes().fold("\u{e000}".to_owned(), |mut scope, byte| {
        let _ = write!(scope, "{byte:02x}");
        scope
    })
}

/// The community and the words of a text, each once; `None` if there are no words. Words contain no spaces or quotes.
pub(crate) fn entry(community: &CommunityId, text: &str) -> Option<Vec<String>> {
    let mut words = words(text);
    if words.is_empty() {
        return None;
    }
    words.sort();
    words.dedup();
    words.insert(0, scope(community));
    Some(words)
}
