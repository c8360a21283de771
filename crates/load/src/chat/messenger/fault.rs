//! An error from the server, for display and for deciding what to do next.

use std::time::Duration;

use serde_json::Value;

/// Maximum time for which a message is held back automatically; after a longer wait the user decides.
const HOLD_MAX: Duration = Duration::from_secs(120);
/// Margin for the difference between the server's clock and ours.
const MARGIN: Duration = Duration::from_millis(100);

/// An error reply: `{"code","message","details"}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) code: String,
    /// The server's message, extended by its details.
    pub(super) message: String,
    pub(super) retry_after: Option<Duration>,
}

impl Fault {
    pub(super) fn read(response: &Value) -> Self {
        let code = response["code"].as_str().or_else(|| response["reason"].as_str()).unwrap_or("unknown");
        let mut message = response["message"].as_str().unwrap_or(code).to_owned();
        let details = &response["details"];
        for field in details["fields"].as_array().into_iter().flatten() {
            if let (Some(name), Some(rule)) = (field["field"].as_str(), field["message"].as_str()) {
                message += &format!("; {name}: {rule}");
            }
        }
        if let Some(reason) = details["reason"].as_str() {
            message += &format!(": {reason}");
        }
        let retry_after = details["retry_after_ms"].as_u64().map(Duration::from_millis);
        Self { code: code.to_owned(), message, retry_after }
    }

    /// Returns how long to hold back a message that was refused only because it was sent too soon.
    pub(super) fn hold(&self) -> Option<Duration> {
        let is_too_soon = matches!(self.code.as_str(), "slow_mode" | "rate_limited");
        let wait = self.retry_after.filter(|wait| is_too_soon && *wait <= HOLD_MAX)?;
        Some(wait + MARGIN)
    }

    /// Returns whether joining again may help.
    pub(super) fn is_passing(&self) -> bool {
        matches!(
            self.code.as_str(),
            "busy"
                | "overloaded"
                | "unavailable"
                | "internal"
                | "rate_limited"
                | "site_unavailable"
                | "token_unverifiable"
                | "community_full"
                | "too_many_devices"
        )
    }

    /// Returns whether the token was rejected.
    pub(super) fn is_of_token(&self) -> bool {
        matches!(self.code.as_str(), "token_expired" | "token_invalid" | "token_revoked")
    }

    /// Returns the text for the user, with the time of the next try if it is known.
    pub(super) fn words(&self) -> String {
        match self.retry_after {
            Some(wait) => format!("{} (retry in {:.1} s)", self.message, wait.as_secs_f64()),
            None => self.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_came_too_soon_is_held_as_long_as_it_was_told() {
        let fault = |code: &str, ms: u64| {
            Fault::read(&json!({"code": code, "message": "wait", "details": {"retry_after_ms": ms}}))
        };
        assert_eq!(fault("slow_mode", 700).hold(), Some(Duration::from_millis(800)));
        assert_eq!(fault("slow_mode", 700).words(), "wait (retry in 0.7 s)");
        assert_eq!(fault("rate_limited", 121_000).hold(), None);
        assert_eq!(fault("muted", 700).hold(), None);
    }

    #[test]
    fn fields_and_reasons_are_said() {
        let fault = json!({"code": "invalid", "message": "invalid",
                           "details": {"fields": [{"field": "text", "code": "too_long", "message": "at most 8192 bytes"}]}});
        assert_eq!(Fault::read(&fault).message, "invalid; text: at most 8192 bytes");
        let fault =
            json!({"code": "refused_by_site", "message": "refused", "details": {"reason": "for members"}});
        assert_eq!(Fault::read(&fault).message, "refused: for members");
        assert_eq!(Fault::read(&json!({"reason": "unmatched topic"})).message, "unmatched topic");
        assert_eq!(Fault::read(&json!(null)).code, "unknown");
    }
}
