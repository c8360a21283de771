//! Values that hold passwords, without them: what is printed ends up in tickets.

use super::raw::Raw;

/// The keys of such values.
const SECRETS: [&str; 2] = ["bus.url", "store.url"];

/// The value of a key as others may see it.
pub(crate) fn shown(key: &str, raw: &Raw) -> Raw {
    if SECRETS.contains(&key) { without_passwords(raw) } else { raw.clone() }
}

fn without_passwords(raw: &Raw) -> Raw {
    match raw {
        Raw::Text(text) => Raw::Text(redacted_list(text)),
        Raw::List(items) => Raw::List(items.iter().map(without_passwords).collect()),
        Raw::Other(_) => Raw::Other("…".into()),
        Raw::Integer(_) | Raw::Boolean(_) => raw.clone(),
    }
}

/// A comma ends an address only where another begins: a password may hold one, rightly or not.
fn redacted_list(text: &str) -> String {
    let mut urls: Vec<String> = Vec::new();
    for part in text.split(',') {
        match urls.last_mut().filter(|_| !part.contains("://")) {
            Some(url) => *url = format!("{url},{part}"),
            None => urls.push(part.to_owned()),
        }
    }
    urls.iter().map(|url| bus::redacted(url)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (written, seen) in [
            ("redis://ann:secret@a:1", "redis://…@a:1"),
            ("redis://a:1,rediss://:secret@b", "redis://a:1,rediss://…@b"),
            ("redis://ann:sec,ret@a", "redis://…@a"),
            ("ann:secret@a", "…@a"),
            ("postgres://ann:secret@db:5432/throng", "postgres://…@db:5432/throng"),
        ] {
            for key in SECRETS {
                assert_eq!(shown(key, &Raw::Text(written.into())), Raw::Text(seen.into()));
            }
        }
        let other = Raw::Text("a@b".into());
        assert_eq!(shown("socket.path", &other), other);
    }
}
