//! Redacts passwords in values: what is printed ends up in tickets.

use super::raw::Raw;

/// Returns the value of a key as others may see it.
pub(crate) fn shown(key: &str, raw: &Raw) -> Raw {
    match key {
        "bus.url" => redacted(raw, &redacted_list),
        "store.url" => redacted(raw, &redacted_database),
        _ => raw.clone(),
    }
}

fn redacted(raw: &Raw, redact: &dyn Fn(&str) -> String) -> Raw {
    match raw {
        Raw::Text(text) => Raw::Text(redact(text)),
        Raw::List(items) => Raw::List(items.iter().map(|item| redacted(item, redact)).collect()),
        Raw::Other(_) => Raw::Other("…".into()),
        Raw::Integer(_) | Raw::Boolean(_) => raw.clone(),
    }
}

/// Redacts a database URL. PostgreSQL also accepts a password as a parameter (its manual, 34.1.1.2). If there is an `@`
/// after a question mark, either part may contain a password, so only the scheme is kept.
fn redacted_database(url: &str) -> String {
    match url.split_once('?') {
        None => bus::redacted(url),
        Some((address, parameters)) if !parameters.contains('@') => format!("{}?…", bus::redacted(address)),
        Some(_) => {
            url.split_once("://").map_or_else(|| "…".to_owned(), |(scheme, _)| format!("{scheme}://…"))
        }
    }
}

/// Redacts a list. A comma ends an address only if another one begins after it: a password may contain commas.
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
        for (key, written, seen) in [
            ("bus.url", "redis://ann:secret@a:1", "redis://…@a:1"),
            ("bus.url", "redis://a:1,rediss://:secret@b", "redis://a:1,rediss://…@b"),
            ("bus.url", "redis://ann:sec,ret@a", "redis://…@a"),
            ("bus.url", "ann:secret@a", "…@a"),
            ("store.url", "postgres://ann:secret@db:5432/throng", "postgres://…@db:5432/throng"),
            ("store.url", "postgres://db/throng?user=ann&password=secret", "postgres://db/throng?…"),
            ("store.url", "postgres://ann:secret@db/throng?sslmode=require", "postgres://…@db/throng?…"),
            ("store.url", "postgres://ann:sec?ret@db/throng", "postgres://…"),
            ("store.url", "postgres://ann:s@c?ret@db/throng", "postgres://…"),
            ("store.url", "postgres://db/throng?password=sec@ret", "postgres://…"),
            ("store.url", "db?sec@ret", "…"),
        ] {
            assert_eq!(shown(key, &Raw::Text(written.into())), Raw::Text(seen.into()));
        }
        let other = Raw::Text("a@b".into());
        assert_eq!(shown("socket.path", &other), other);
    }
}
