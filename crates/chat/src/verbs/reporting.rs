//! Reports of messages, their settlement, and the audit log.

use super::changing::reach;
use super::erasing::BeingErased;
use super::listing::{Listed, with_one_more};
use super::moderating::{Entry, log_entry, note, require_sight};
use crate::access;
use crate::failure::{Conflict, Thing};
use crate::ids::{AuditId, ConversationId, ReportId, Seq};
use crate::moderation::{Audit, AuditAction, Report, Settlement};
use crate::permissions::Action;
use crate::rows::Rows;
use crate::{By, Call, Command, Failure};

/// Reports a message to the moderators. Needs [`Action::Report`]. If the same person reports it again, their first
/// report is returned as they made it; reports by keys are all kept.
#[derive(Clone, Debug)]
pub struct ReportMessage {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
    /// The reason.
    pub reason: String,
}

/// The result of [`ReportMessage`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reported {
    /// The report.
    pub report: Report,
    /// Whether it existed before: then nobody needs to be notified again.
    pub repeated: bool,
}

impl Command for ReportMessage {
    type Answer = Reported;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Reported, Failure> {
        let reason = note(&self.reason, "reason")?;
        let (_, message) = reach(rows, call, self.conversation, self.seq, Action::Report)?;
        if message.deleted.is_some() {
            return Err(Conflict::Deleted.into());
        }
        if let By::Person(person) = &call.by
            && let Some(first) = rows.report_by(&call.community, self.conversation, self.seq, person)?
        {
            // The settlement is for moderators only.
            return Ok(Reported { report: Report { settled: None, ..first }, repeated: true });
        }
        let report = Report {
            id: ReportId(call.id(0)),
            conversation: self.conversation,
            seq: self.seq,
            author: message.sender,
            by: call.by.name(),
            at: call.now,
            reason,
            settled: None,
        };
        rows.put(&call.community, &report.clone().into())?;
        Ok(Reported { report, repeated: false })
    }
}

/// Lists open reports, oldest first: of a room with [`Action::SeeReports`]; of all conversations for the community's
/// moderators and keys, who also handle reports from direct conversations.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    /// The conversation; `None`: all.
    pub conversation: Option<ConversationId>,
    /// Only reports after this one.
    pub after: Option<ReportId>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for Reports {
    type Answer = Listed<Report, ReportId>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        require_sight(rows, call, self.conversation, Action::SeeReports)?;
        let limit = with_one_more(self.limit);
        let found = rows.reports(&call.community, self.conversation, self.after, limit)?;
        let mut listed = Listed::of(found, self.limit, |report| report.id);
        BeingErased::leave_out(rows, call, &mut listed.rows, |report| Some(report.conversation))?;
        Ok(listed)
    }
}

/// Settles a report; settling it again keeps the first settlement. Whoever may see it may settle it.
#[derive(Clone, Debug)]
pub struct Settle {
    /// The report.
    pub report: ReportId,
    /// The outcome, in words.
    pub note: String,
}

impl Command for Settle {
    type Answer = Report;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Report, Failure> {
        let note = note(&self.note, "note")?;
        let absent = Failure::Absent(Thing::Report);
        let mut report = rows.report(&call.community, self.report)?.ok_or(absent.clone())?;
        let mut sees = |of| access::passes(require_sight(rows, call, of, Action::SeeReports));
        let sees = sees(Some(report.conversation))? || sees(None)?;
        if !sees || rows.unfinished_erasure(&call.community, report.conversation)?.is_some() {
            return Err(absent);
        }
        if report.settled.is_none() {
            let entry = Entry::of(AuditAction::SettleReport, Some(report.conversation));
            let (person, seq) = (Some(report.author.clone()), Some(report.seq));
            report.settled = Some(Settlement { at: call.now, by: call.by.name(), note: note.clone() });
            rows.put(&call.community, &report.clone().into())?;
            log_entry(rows, call, Entry { person, seq, note, ..entry })?;
        }
        Ok(report)
    }
}

/// Lists the audit log, newest first: of a room with [`Action::SeeAudit`]; whole for the community's moderators and
/// keys.
#[derive(Clone, Copy, Debug)]
pub struct AuditLog {
    /// The conversation; `None`: the whole community.
    pub conversation: Option<ConversationId>,
    /// Only entries before this one.
    pub before: Option<AuditId>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for AuditLog {
    type Answer = Listed<Audit, AuditId>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        require_sight(rows, call, self.conversation, Action::SeeAudit)?;
        let limit = with_one_more(self.limit);
        let found = rows.audit(&call.community, self.conversation, self.before, limit)?;
        let mut listed = Listed::of(found, self.limit, |audit| audit.id);
        BeingErased::leave_out(rows, call, &mut listed.rows, |audit| audit.conversation)?;
        Ok(listed)
    }
}
