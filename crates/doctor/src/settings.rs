//! Settings to paste into a machine's configuration, so that they survive a reboot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a setting is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// A file in `/etc/sysctl.d`.
    Sysctl,
    /// The section `[Service]` of a systemd unit.
    Systemd,
}

impl Place {
    /// Returns where people find it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Sysctl => "in /etc/sysctl.d/90-connections.conf, then: sysctl --system",
            Self::Systemd => "under [Service] in the systemd unit",
        }
    }
}

/// One line of configuration.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Where it is kept.
    pub place: Place,
    /// Its name there.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Setting {
    pub(super) fn sysctl(name: &str, value: impl ToString) -> Self {
        Self { place: Place::Sysctl, name: name.to_owned(), value: value.to_string() }
    }

    pub(super) fn systemd(name: &str, value: impl ToString) -> Self {
        Self { place: Place::Systemd, name: name.to_owned(), value: value.to_string() }
    }

    /// Returns the line for its file.
    #[must_use]
    pub fn line(&self) -> String {
        match self.place {
            Place::Sysctl => format!("{} = {}", self.name, self.value),
            Place::Systemd => format!("{}={}", self.name, self.value),
        }
    }
}

/// Returns the command that applies all of these until the next reboot.
pub(super) fn command(settings: &[Setting]) -> String {
    let assignments = settings.iter().map(|Setting { name, value, .. }| {
        if value.contains(' ') { format!("{name}=\"{value}\"") } else { format!("{name}={value}") }
    });
    format!("sysctl -w {}", assignments.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_a_line_and_several_are_one_command() {
        let settings =
            [Setting::sysctl("fs.file-max", 2_100_000), Setting::sysctl("net.ipv4.tcp_mem", "1 2 3")];
        assert_eq!(settings[1].line(), "net.ipv4.tcp_mem = 1 2 3");
        assert_eq!(Setting::systemd("LimitNOFILE", 1_048_576).line(), "LimitNOFILE=1048576");
        assert_eq!(command(&settings), "sysctl -w fs.file-max=2100000 net.ipv4.tcp_mem=\"1 2 3\"");
    }
}
