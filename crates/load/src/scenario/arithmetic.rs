//! Products and quotients of constants, such as `${users / rate}`, so that one number (the load of a search) can scale
//! the others.
//!
//! Handles whatever stands between `${` and `}` when it is more than a single name. There are no sums and no
//! parentheses.

use std::collections::BTreeMap;

/// Returns whether the text has more than one operand.
pub(super) fn is_term(text: &str) -> bool {
    text.split_whitespace().any(|word| matches!(word, "*" | "/"))
}

/// Evaluates `operand (* | /) operand …` from left to right; an operand is a number or the name of a numeric constant.
/// Operators must be surrounded by blanks, because names may contain them.
///
/// # Errors
/// A sentence that names the offending operand.
pub(super) fn value_of(text: &str, constants: &BTreeMap<String, String>) -> Result<String, String> {
    let mut words = text.split_whitespace();
    let mut value = operand(text, words.next(), constants)?;
    while let Some(operator) = words.next() {
        let right = operand(text, words.next(), constants)?;
        value = match operator {
            "*" => value * right,
            "/" => value / right,
            _ => return Err(format!("`{operator}` in `${{{text}}}` is neither `*` nor `/`")),
        };
    }
    // Binary floats often cannot represent the result exactly (0.1, for example). Rounding to twelve decimals is
    // precise enough for any count or time here, and hides the error.
    let rounded = (value * 1e12).round() / 1e12;
    if rounded.is_finite() { Ok(rounded.to_string()) } else { Err(format!("`${{{text}}}` is no number")) }
}

fn operand(text: &str, word: Option<&str>, constants: &BTreeMap<String, String>) -> Result<f64, String> {
    let word = word.ok_or_else(|| format!("`${{{text}}}` ends with an operator"))?;
    let written = constants.get(word).map_or(word, String::as_str);
    match written.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) | Err(_) if written == word => {
            Err(format!("`{word}` in `${{{text}}}` is neither a number nor a variable"))
        }
        Ok(_) | Err(_) => Err(format!("`{word}` in `${{{text}}}` is `{written}`, which is no number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_numbers_are_multiplied_and_divided_from_left_to_right() {
        let constants = [("load", "30"), ("each", "1000"), ("stay", "2s")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let value = |text: &str| value_of(text, &constants);
        assert_eq!(value("load * each"), Ok("30000".to_owned()));
        assert_eq!(value("3 / load"), Ok("0.1".to_owned()));
        assert_eq!(value("each / load * 3"), Ok("100".to_owned()));
        for (text, expected) in [
            ("load * stay", "`stay` in `${load * stay}` is `2s`, which is no number"),
            ("load * rooms", "`rooms` in `${load * rooms}` is neither a number nor a variable"),
            ("load /", "`${load /}` ends with an operator"),
            ("load * 2 + 1", "`+` in `${load * 2 + 1}` is neither `*` nor `/`"),
            ("load / 0", "`${load / 0}` is no number"),
        ] {
            assert_eq!(value(text), Err(expected.to_owned()));
        }
    }
}
