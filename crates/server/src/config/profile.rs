//! Profiles: named sets of defaults. Values from a file, a variable or a flag take precedence.

use super::shape::OneOf;

/// A named set of defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Profile {
    /// The defaults of the table of settings.
    Standard,
    /// For load generators that send no heartbeats and no valid Origin, on a machine of one's own.
    LoadTest,
}

impl Profile {
    /// The profiles by name.
    pub(crate) const SHAPE: OneOf<Profile> =
        OneOf(&[("standard", Profile::Standard), ("load-test", Profile::LoadTest)]);

    /// Returns the profile's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Profile::Standard => "standard",
            Profile::LoadTest => "load-test",
        }
    }

    /// Returns the defaults that differ from the table's, as TOML literals.
    pub(crate) fn values(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Profile::Standard => &[],
            Profile::LoadTest => &[
                ("socket.idle_timeout", r#""off""#),
                ("socket.origins", r#""any""#),
                ("socket.lenient_origin", "true"),
                ("echo.path", r#""/echo""#),
                // A generator that starves beside the server may take its time between connecting and asking.
                ("limits.handshake_timeout", r#""60s""#),
                ("limits.messages_per_minute_per_ip", r#""off""#),
                ("limits.guests_per_minute_per_ip", r#""off""#),
            ],
        }
    }
}
