//! Profiles: named sets of defaults. What a file, a variable or a flag sets still wins.

use super::shape::OneOf;

/// A named set of defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Profile {
    /// The defaults of the table of settings.
    Standard,
    /// For load generators that send no heartbeats and no proper Origin, on a machine of one's own.
    LoadTest,
}

impl Profile {
    /// The profiles by the name under which they are chosen.
    pub(crate) const SHAPE: OneOf<Profile> =
        OneOf(&[("standard", Profile::Standard), ("load-test", Profile::LoadTest)]);

    /// The name under which the profile is chosen.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Profile::Standard => "standard",
            Profile::LoadTest => "load-test",
        }
    }

    /// The defaults that differ from the table's, as TOML literals.
    pub(crate) fn values(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Profile::Standard => &[],
            Profile::LoadTest => &[
                ("socket.idle_timeout", r#""off""#),
                ("socket.origins", r#""any""#),
                ("socket.lenient_origin", "true"),
                ("echo.path", r#""/echo""#),
                ("limits.messages_per_minute_per_ip", r#""off""#),
                ("limits.guests_per_minute_per_ip", r#""off""#),
            ],
        }
    }
}
