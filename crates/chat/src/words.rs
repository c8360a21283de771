//! Splits text into words, the same for every search index.

use crate::limits::TEXT_BYTES_MAX;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum length of an indexed word, in characters; longer runs are truncated.
const WORD_CHARACTERS_MAX: usize = 64;

/// Returns the words of a text: runs of letters and digits, in lower case and without accents. In scripts that do not
/// separate words by spaces, each ideograph is a word.
///
/// ```
/// use chat::rows::words;
/// assert_eq!(words("Smörgåsbord, 2 PLATES!"), ["smorgasbord", "2", "plates"]);
/// assert_eq!(words("東京 tower"), ["東", "京", "tower"]);
/// ```
pub fn words(text: &str) -> Vec<String> {
    debug_assert!(text.len() <= 4 * TEXT_BYTES_MAX, "texts are bounded where they come in");
    let mut words = Vec::new();
    let mut word = Word::default();
    for character in text.nfkd().filter(|&character| !is_combining_mark(character)) {
        if is_ideograph(character) {
            word.end(&mut words);
            words.push(character.to_string());
        } else if character.is_alphanumeric() {
            word.push(character);
        } else {
            word.end(&mut words);
        }
    }
    word.end(&mut words);
    words
}

#[derive(Default)]
struct Word {
    text: String,
    characters: usize,
}

impl Word {
    fn push(&mut self, character: char) {
        if self.characters < WORD_CHARACTERS_MAX {
            self.text.extend(character.to_lowercase());
            self.characters += 1;
        }
    }

    fn end(&mut self, words: &mut Vec<String>) {
        if !self.text.is_empty() {
            words.push(std::mem::take(&mut self.text));
        }
        self.characters = 0;
    }
}

/// Whether it is in a Unicode block of Han, Hiragana or Katakana.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_case_and_compatibility_forms_do_not_count() {
        assert_eq!(words("ÉCOLE ﬁn Straße"), ["ecole", "fin", "straße"]);
    }

    #[test]
    fn a_run_without_end_is_cut() {
        assert_eq!(words(&"a".repeat(1_000)), ["a".repeat(WORD_CHARACTERS_MAX)]);
    }

    #[test]
    fn text_without_letters_has_no_words() {
        assert!(words("… 👩\u{200d}🚀 !?").is_empty());
    }
}
