//! Translates Tsung's JSON paths to RFC 9535.

use serde_json_path::JsonPath;

/// Translates `a.b[3].c`, `[*]` and `[?k=v]`, with or without a leading `$.`. Returns `None` for anything else.
pub(super) fn standard(text: &str) -> Option<String> {
    let mut rest = text.trim();
    rest = rest.strip_prefix('$').unwrap_or(rest);
    rest = rest.strip_prefix('.').unwrap_or(rest);
    let mut path = "$".to_owned();
    while !rest.is_empty() {
        rest = if let Some(after) = rest.strip_prefix('[') {
            let (selector, after) = after.split_once(']')?;
            path.push_str(&bracketed(selector)?);
            after
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            path.push_str(&member(key)?);
            after
        };
        rest = match rest.strip_prefix('.') {
            Some("") => return None,
            Some(after) => after,
            None => rest,
        };
    }
    JsonPath::parse(&path).is_ok().then_some(path)
}

fn member(key: &str) -> Option<String> {
    let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !key.starts_with(|c: char| c.is_ascii_digit());
    match key {
        "" => None,
        "*" => Some("[*]".to_owned()),
        _ if is_plain => Some(format!(".{key}")),
        _ => Some(format!("[{}]", quoted(key))),
    }
}

fn bracketed(selector: &str) -> Option<String> {
    let selector = selector.trim();
    if let Some(condition) = selector.strip_prefix('?') {
        let (key, value) = condition.split_once('=')?;
        let (key, value) = (member(key.trim())?, value.trim_start_matches('=').trim());
        let text = quoted(value.trim_matches(['\'', '"']));
        return Some(match value.parse::<i64>() {
            // Here Tsung does not distinguish numbers from strings.
            Ok(number) => format!("[?@{key} == {number} || @{key} == {text}]"),
            Err(_) => format!("[?@{key} == {text}]"),
        });
    }
    match selector {
        "*" => Some("[*]".to_owned()),
        index => index.parse::<u32>().ok().map(|index| format!("[{index}]")),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_standard_ones() {
        for (text, expected) in [
            ("a", Some("$.a")),
            ("$.a.b", Some("$.a.b")),
            ("a.b[3].c", Some("$.a.b[3].c")),
            ("items[*].id", Some("$.items[*].id")),
            ("items[?name=bar].id", Some("$.items[?@.name == 'bar'].id")),
            ("items[?n=3].id", Some("$.items[?@.n == 3 || @.n == '3'].id")),
            ("[0].x", Some("$[0].x")),
            ("user-id", Some("$['user-id']")),
            ("a..b", None),
            ("a[", None),
            ("a[x]", None),
            ("a.", None),
        ] {
            assert_eq!(standard(text).as_deref(), expected, "{text}");
        }
    }
}
