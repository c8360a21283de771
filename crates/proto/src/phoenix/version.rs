//! Which serialization a client speaks, from the `vsn` parameter of its upgrade request.

use std::fmt;

/// A serialization of Phoenix Channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Version {
    /// `>= 1.0.0` and `< 1.1.0`: JSON objects, no binary payloads.
    V1,
    /// `>= 2.0.0` and `< 2.1.0`: JSON arrays of five, and binary frames.
    V2,
}

/// The `vsn` parameter is not a full semantic version, or is one that no serializer here supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnsupportedVersion;

impl Version {
    /// Chooses the serializer for a `vsn` parameter; a missing one means `1.0.0`, as in Phoenix.
    ///
    /// A pre-release counts as older than its release: `2.0.1-rc.1` is accepted, `2.0.0-rc.1` and `2.1.0-rc.1` are not.
    pub fn negotiate(vsn: Option<&str>) -> Result<Version, UnsupportedVersion> {
        let Some(vsn) = vsn else { return Ok(Version::V1) };
        let semver = Semver::parse(vsn).ok_or(UnsupportedVersion)?;
        match semver {
            Semver { patch_is_zero: true, pre_release: true, .. } => Err(UnsupportedVersion),
            Semver { major: "1", minor: "0", .. } => Ok(Version::V1),
            Semver { major: "2", minor: "0", .. } => Ok(Version::V2),
            _ => Err(UnsupportedVersion),
        }
    }
}

impl fmt::Display for UnsupportedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the vsn parameter names no supported serializer version")
    }
}

impl std::error::Error for UnsupportedVersion {}

/// The parts of a `major.minor.patch[-pre][+build]` version (semver.org 2.0.0) that the choice depends on.
struct Semver<'a> {
    major: &'a str,
    minor: &'a str,
    patch_is_zero: bool,
    pre_release: bool,
}

impl<'a> Semver<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (rest, build) = split_suffix(text, '+');
        let (core, pre) = split_suffix(rest, '-');
        let mut numbers = core.split('.');
        let (major, minor, patch) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let valid = numbers.next().is_none()
            && [major, minor, patch].into_iter().all(is_number)
            && pre.is_none_or(|pre| pre.split('.').all(is_pre_release_identifier))
            && build.is_none_or(|build| build.split('.').all(is_identifier));
        valid.then_some(Semver { major, minor, patch_is_zero: patch == "0", pre_release: pre.is_some() })
    }
}

fn split_suffix(text: &str, separator: char) -> (&str, Option<&str>) {
    match text.split_once(separator) {
        Some((head, suffix)) => (head, Some(suffix)),
        None => (text, None),
    }
}

fn is_number(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

fn is_pre_release_identifier(text: &str) -> bool {
    is_identifier(text) && (!is_digits(text) || is_number(text))
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_vsn_means_the_first_version() {
        assert_eq!(Version::negotiate(None), Ok(Version::V1));
    }

    #[test]
    fn each_patch_of_a_served_minor_version_is_accepted() {
        for vsn in ["1.0.0", "1.0.9", "1.0.1-rc.1", "1.0.0+build.5"] {
            assert_eq!(Version::negotiate(Some(vsn)), Ok(Version::V1), "{vsn}");
        }
        for vsn in ["2.0.0", "2.0.5", "2.0.1-rc.1", "2.0.123456789012345678901234567890"] {
            assert_eq!(Version::negotiate(Some(vsn)), Ok(Version::V2), "{vsn}");
        }
    }

    #[test]
    fn other_versions_and_malformed_ones_are_refused() {
        let refused = [
            "",
            "2",
            "2.0",
            "2.1.0",
            "1.1.0",
            "3.0.0",
            "123.1.1",
            "2.0.0-rc.1",
            "2.1.0-rc.1",
            "2.0.0.0",
            "02.0.0",
            "2.0.0-",
            "2.0.1-01",
            "2.0.0+",
            "2.0.1-a..b",
            " 2.0.0",
            "v2.0.0",
            "+2.0.0",
            "2.0.-1",
        ];
        for vsn in refused {
            assert_eq!(Version::negotiate(Some(vsn)), Err(UnsupportedVersion), "{vsn}");
        }
    }
}
