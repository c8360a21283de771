//! Shapes of values: each describes what it accepts, for error messages, and converts a value as written to one as
//! meant. The environment contains only text, so every shape can parse text, too.

use super::raw::Raw;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// The required format of a setting's value.
pub(crate) trait Shape {
    /// The parsed value.
    type Value;

    /// Returns what to write instead of a bad value; completes "write …".
    fn expected(&self) -> String;

    /// Parses the value; returns `None` if it does not have this shape.
    fn parse(&self, raw: &Raw) -> Option<Self::Value>;
}

/// `true` or `false`.
pub(crate) struct Boolean;

impl Shape for Boolean {
    type Value = bool;

    fn expected(&self) -> String {
        "true or false".into()
    }

    fn parse(&self, raw: &Raw) -> Option<bool> {
        match raw {
            Raw::Boolean(value) => Some(*value),
            Raw::Text(text) => text.parse().ok(),
            Raw::Integer(_) | Raw::List(_) | Raw::Other(_) => None,
        }
    }
}

/// A whole number within bounds.
#[derive(Clone)]
pub(crate) struct Whole(pub(crate) RangeInclusive<u64>);

impl Shape for Whole {
    type Value = u64;

    fn expected(&self) -> String {
        format!("a number from {} to {}", self.0.start(), self.0.end())
    }

    fn parse(&self, raw: &Raw) -> Option<u64> {
        whole(raw).filter(|number| self.0.contains(number))
    }
}

/// A number of bytes within bounds: a plain number, or one with a unit, such as `"64KiB"` or `"10MB"`.
pub(crate) struct Bytes(pub(crate) RangeInclusive<u64>);

impl Shape for Bytes {
    type Value = usize;

    fn expected(&self) -> String {
        let (min, max) = (size(*self.0.start()), size(*self.0.end()));
        format!("a size from \"{min}\" to \"{max}\", with a unit (B, KB, MB, GB, KiB, MiB, GiB) or in bytes")
    }

    fn parse(&self, raw: &Raw) -> Option<usize> {
        const UNITS: [(&str, u64); 7] = [
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("KB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("B", 1),
        ];
        let bytes = match raw {
            Raw::Text(text) => with_unit(text, &UNITS).or_else(|| text.parse().ok()),
            Raw::Integer(_) | Raw::Boolean(_) | Raw::List(_) | Raw::Other(_) => whole(raw),
        };
        bytes.filter(|bytes| self.0.contains(bytes)).and_then(|bytes| usize::try_from(bytes).ok())
    }
}

/// A duration within bounds, with its unit: `"250ms"`, `"60s"`, `"5m"`, `"1h"`.
pub(crate) struct Time(pub(crate) RangeInclusive<Duration>);

impl Shape for Time {
    type Value = Duration;

    fn expected(&self) -> String {
        let (min, max) = (time(*self.0.start()), time(*self.0.end()));
        format!("a time from \"{min}\" to \"{max}\", with a unit (ms, s, m, h)")
    }

    fn parse(&self, raw: &Raw) -> Option<Duration> {
        const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
        let Raw::Text(text) = raw else { return None };
        with_unit(text, &UNITS).map(Duration::from_millis).filter(|duration| self.0.contains(duration))
    }
}

/// An IP address with a port.
pub(crate) struct Address;

impl Shape for Address {
    type Value = SocketAddr;

    fn expected(&self) -> String {
        "an IP address with a port, such as \"127.0.0.1:4000\" or \"[::1]:4000\"".into()
    }

    fn parse(&self, raw: &Raw) -> Option<SocketAddr> {
        raw.text()?.parse().ok()
    }
}

/// Any text; it is interpreted where it is used.
pub(crate) struct Text;

impl Shape for Text {
    type Value = String;

    fn expected(&self) -> String {
        "text in quotes".into()
    }

    fn parse(&self, raw: &Raw) -> Option<String> {
        raw.text().map(str::to_owned)
    }
}

/// The URL of a PostgreSQL database; only its scheme is checked here.
pub(crate) struct DatabaseUrl;

impl Shape for DatabaseUrl {
    type Value = String;

    fn expected(&self) -> String {
        "the URL of a PostgreSQL database, such as \"postgres://throng@localhost/throng\"".into()
    }

    fn parse(&self, raw: &Raw) -> Option<String> {
        let text = raw.text()?;
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        is_url.then(|| text.to_owned())
    }
}

/// A folder; it need not exist.
pub(crate) struct Folder;

impl Shape for Folder {
    type Value = PathBuf;

    fn expected(&self) -> String {
        "the path of a directory".into()
    }

    fn parse(&self, raw: &Raw) -> Option<PathBuf> {
        raw.text().filter(|text| !text.is_empty()).map(PathBuf::from)
    }
}

/// A file, which is read later.
pub(crate) struct File;

impl Shape for File {
    type Value = PathBuf;

    fn expected(&self) -> String {
        "the path of a file".into()
    }

    fn parse(&self, raw: &Raw) -> Option<PathBuf> {
        raw.text().filter(|text| !text.is_empty()).map(PathBuf::from)
    }
}

/// The path of a mount: segments of letters, digits, `-`, `_`, `.` and `~`, without a trailing slash.
pub(crate) struct MountPath;

impl Shape for MountPath {
    type Value = String;

    fn expected(&self) -> String {
        "a path such as \"/socket\", without a slash at the end".into()
    }

    fn parse(&self, raw: &Raw) -> Option<String> {
        let text = raw.text()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
        let segments = text.strip_prefix('/')?;
        let sound = segments.split('/').all(|segment| !segment.is_empty() && segment.chars().all(plain));
        sound.then(|| text.to_owned())
    }
}

/// One of a few words, each with its value.
pub(crate) struct OneOf<V: 'static>(pub(crate) &'static [(&'static str, V)]);

impl<V: Clone> Shape for OneOf<V> {
    type Value = V;

    fn expected(&self) -> String {
        let words: Vec<String> = self.0.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        words.join(" or ")
    }

    fn parse(&self, raw: &Raw) -> Option<V> {
        let text = raw.text()?;
        self.0.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone())
    }
}

/// Another shape, or a word that stands for `None`: `"off"`, `"auto"`.
pub(crate) struct Or<S>(pub(crate) &'static str, pub(crate) S);

impl<S: Shape> Shape for Or<S> {
    type Value = Option<S::Value>;

    fn expected(&self) -> String {
        format!("{}, or \"{}\"", self.1.expected(), self.0)
    }

    fn parse(&self, raw: &Raw) -> Option<Option<S::Value>> {
        if raw.text() == Some(self.0) { Some(None) } else { self.1.parse(raw).map(Some) }
    }
}

fn whole(raw: &Raw) -> Option<u64> {
    match raw {
        Raw::Integer(number) => u64::try_from(*number).ok(),
        Raw::Text(text) => text.parse().ok(),
        Raw::Boolean(_) | Raw::List(_) | Raw::Other(_) => None,
    }
}

/// Parses a number with a unit. Units that are suffixes of others must come after them in `units`.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, worth) = units.iter().find_map(|(unit, worth)| Some((text.strip_suffix(unit)?, worth)))?;
    number.trim_end().parse::<u64>().ok()?.checked_mul(*worth)
}

/// Formats a size in the largest unit that divides it.
fn size(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let (unit, worth) = units
        .into_iter()
        .find(|(_, worth)| bytes >= *worth && bytes.is_multiple_of(*worth))
        .unwrap_or(("B", 1));
    format!("{}{unit}", bytes / worth)
}

/// Formats a duration in the largest unit that divides it.
fn time(duration: Duration) -> String {
    let ms = duration.as_millis();
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    let (unit, worth) =
        units.into_iter().find(|(_, worth)| ms >= *worth && ms.is_multiple_of(*worth)).unwrap_or(("ms", 1));
    format!("{}{unit}", ms / worth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Raw {
        Raw::Text(text.into())
    }

    #[test]
    fn sizes_are_read_with_and_without_a_unit() {
        let shape = Bytes(1..=1 << 40);
        let table = [("64KiB", 65_536), ("10MB", 10_000_000), ("1 GiB", 1 << 30), ("512B", 512), ("7", 7)];
        for (written, bytes) in table {
            assert_eq!(shape.parse(&text(written)), Some(bytes), "{written}");
        }
        assert_eq!(shape.parse(&Raw::Integer(9)), Some(9));
        for written in ["", "KiB", "-1", "1.5MB", "99999999999GiB", "ten"] {
            assert_eq!(shape.parse(&text(written)), None, "{written}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        let shape = Time(Duration::ZERO..=Duration::from_secs(7200));
        let table = [("250ms", 250), ("60s", 60_000), ("5m", 300_000), ("1h", 3_600_000)];
        for (written, ms) in table {
            assert_eq!(shape.parse(&text(written)), Some(Duration::from_millis(ms)), "{written}");
        }
        for written in ["60", "s", "3h", "1.5s"] {
            assert_eq!(shape.parse(&text(written)), None, "{written}");
        }
        assert_eq!(shape.parse(&Raw::Integer(60)), None);
    }

    #[test]
    fn a_mount_path_has_whole_segments() {
        for written in ["/socket", "/ws/admin", "/v1.2/~x"] {
            assert_eq!(MountPath.parse(&text(written)).as_deref(), Some(written));
        }
        for written in ["", "/", "socket", "/socket/", "//socket", "/a b", "/a?b"] {
            assert_eq!(MountPath.parse(&text(written)), None, "{written}");
        }
    }

    #[test]
    fn the_word_for_none_is_no_value() {
        let shape = Or("off", Address);
        assert_eq!(shape.parse(&text("off")), Some(None));
        assert_eq!(shape.parse(&text("nowhere")), None);
        assert_eq!(
            shape.expected(),
            "an IP address with a port, such as \"127.0.0.1:4000\" or \"[::1]:4000\", or \"off\""
        );
    }
}
