//! Checks whether the TLS files can be read, match, and stay valid for a while.

use crate::config::TlsConfig;
use crate::tls::{Certificates, Validity};
use ::doctor::{Check, State};
use jiff::{SignedDuration, Timestamp};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const SUBJECT: &str = "certificate";
/// Time before expiry at which to warn, for those who renew certificates by hand.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Checks the two files.
pub(super) fn check(config: &TlsConfig) -> Vec<Check> {
    let certificates = match Certificates::load(config) {
        Ok(certificates) => certificates,
        Err(error) => {
            let check = Check::new(SUBJECT, State::Stop, error.to_string());
            return vec![
                check.with("set `tls.certificate` and `tls.key` to two PEM files that this user can read"),
            ];
        }
    };
    let validity = match certificates.validity() {
        Some(validity) => by_time(validity, Timestamp::now()),
        None => Check::new(SUBJECT, State::Note, "its expiry date cannot be read"),
    };
    [Some(validity), exposed_key(&config.key)].into_iter().flatten().collect()
}

fn by_time(Validity { not_before, not_after }: Validity, now: Timestamp) -> Check {
    let day = |time: Timestamp| time.strftime("%Y-%m-%d").to_string();
    if now > not_after {
        let text = format!("it expired on {}: clients reject it", day(not_after));
        return Check::new(SUBJECT, State::Stop, text).with(RENEWAL);
    }
    if now < not_before {
        let text = format!("it is not valid before {}", day(not_before));
        return Check::new(SUBJECT, State::Stop, text)
            .with("use the previous certificate, or correct the system time");
    }
    let left = not_after.duration_since(now);
    let text =
        format!("certificate and key match; valid until {} ({} days)", day(not_after), left.as_hours() / 24);
    match left < RENEW_BEFORE {
        true => Check::new(SUBJECT, State::Caution, text).with(RENEWAL),
        false => Check::new(SUBJECT, State::Ok, text),
    }
}

const RENEWAL: &str = "renew it; a running server reloads the files by itself";

fn exposed_key(path: &Path) -> Option<Check> {
    let mode = fs::metadata(path).ok()?.mode() & 0o777;
    // A group of certificate readers is common; access for everybody is not.
    let is_exposed = mode & 0o007 != 0;
    is_exposed.then(|| {
        let text = format!("{}: every user of this machine can read the key (mode {mode:o})", path.display());
        Check::new("private key", State::Caution, text).with(format!("chmod o= {}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_judged_by_the_time_it_has_left() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        let validity =
            || Validity { not_before: at("2030-01-01T00:00:00Z"), not_after: at("2030-04-01T00:00:00Z") };
        for (now, state, said) in [
            ("2029-12-31T23:59:59Z", State::Stop, "not valid before 2030-01-01"),
            ("2030-01-01T00:00:00Z", State::Ok, "until 2030-04-01 (90 days)"),
            ("2030-03-19T00:00:00Z", State::Caution, "(13 days)"),
            ("2030-04-01T00:00:01Z", State::Stop, "expired on 2030-04-01"),
        ] {
            let check = by_time(validity(), at(now));
            assert_eq!(check.state, state, "{now}");
            assert!(check.text.contains(said), "{now}: {}", check.text);
        }
    }
}
