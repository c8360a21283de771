//! Resolves people and messages named in a typed line.

use super::Client;

impl Client {
    /// Returns the conversation that is shown.
    pub(super) fn shown(&self) -> Result<String, String> {
        self.current
            .clone()
            .ok_or_else(|| "no conversation is open: use /list and /open, /join ROOM or /dm NAME".into())
    }

    /// Returns the given message of the user, or the newest one.
    pub(super) fn own(&self, seq: Option<u64>) -> Result<u64, String> {
        let id = self.shown()?;
        seq.or_else(|| self.newest(&id, |client, sender| client.is_me(sender)))
            .ok_or_else(|| "none of your messages is loaded here; give a message number, such as #42".into())
    }

    pub(super) fn newest(&self, conversation: &str, is_by: impl Fn(&Self, &str) -> bool) -> Option<u64> {
        let thread = self.threads.get(conversation)?;
        let found =
            thread.messages().rev().find(|message| !message.is_deleted && is_by(self, &message.sender));
        found.map(|message| message.seq)
    }

    /// Resolves a person's name; an unknown name is tried as an ID.
    pub(super) fn person(&self, name: &str) -> Result<String, String> {
        let called = self.people.called(name);
        match called.as_slice() {
            [] if name.contains(char::is_whitespace) => Err(format!(
                "nobody named {name:?} is known here: /who and /members list people with their ids"
            )),
            [] => Ok(name.trim_start_matches('@').to_owned()),
            [person] => Ok(person.clone()),
            several => Err(format!("several people are named {name:?}; use an id: {}", several.join(", "))),
        }
    }

    /// Returns the people mentioned as `@name` in a text.
    pub(super) fn mentions(&self, text: &str) -> Vec<String> {
        let words = text.split_whitespace().filter(|word| word.starts_with('@') && word.len() > 1);
        let mut people: Vec<String> = words
            .filter_map(|word| {
                let bare = word.trim_end_matches(|letter: char| ".,;:!?)".contains(letter));
                match self.people.called(bare).as_slice() {
                    [person] => Some(person.clone()),
                    _ => None,
                }
            })
            .collect();
        people.sort();
        people.dedup();
        people
    }
}
