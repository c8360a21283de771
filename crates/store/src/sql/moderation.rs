//! Table mappings of moderation records.

use super::select::Entity;
use super::session::{Columns, Param};
use super::values::{optional_text, read_at};
use chat::rows::Found;
use chat::{
    Audit, AuditAction, AuditId, ConversationId, Moment, PersonId, Report, ReportId, Revocation, Sanction,
    SanctionKind, Seq, Settlement, Ulid,
};

/// Represents the whole community where a key needs a conversation.
const EVERYWHERE: Ulid = Ulid::from_bytes([0; 16]);

/// A conversation, or the whole community, as part of a key.
pub(super) fn scope<'a>(conversation: Option<ConversationId>) -> Param<'a> {
    Param::id(conversation.map_or(EVERYWHERE, |id| id.0))
}

fn unscoped(id: Ulid) -> Option<ConversationId> {
    (id != EVERYWHERE).then_some(ConversationId(id))
}

impl Entity for Sanction {
    const TABLE: &'static str = "sanctions";
    const COLUMNS: &'static [&'static str] =
        &["person", "conversation", "kind", "until_ms", "by_person", "at_ms", "reason"];
    const KEY: usize = 3;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            self.person.as_str().into(),
            scope(self.conversation),
            self.kind.name().into(),
            Param::optional_number(self.until.map(Moment::millis)),
            self.by.as_str().into(),
            Param::number(self.at.millis()),
            self.reason.as_str().into(),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            person: reader.person()?,
            conversation: unscoped(reader.id()?),
            kind: reader.named(SanctionKind::named)?,
            until: reader.optional_moment()?,
            by: reader.person()?,
            at: reader.moment()?,
            reason: reader.text()?.to_owned(),
        })
    }
}

impl Entity for Revocation {
    const TABLE: &'static str = "revocations";
    const COLUMNS: &'static [&'static str] = &["person", "token", "until_s", "at_ms", "ends_ms"];
    const KEY: usize = 2;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            self.person.as_str().into(),
            self.token_or_all().into(),
            Param::number(self.until_s),
            Param::number(self.at.millis()),
            Param::number(self.ends.millis()),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            person: reader.person()?,
            token: Some(reader.text()?).filter(|token| !token.is_empty()).map(str::to_owned),
            until_s: reader.number()?,
            at: reader.moment()?,
            ends: reader.moment()?,
        })
    }
}

impl Entity for Report {
    const TABLE: &'static str = "reports";
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "conversation",
        "seq",
        "author",
        "by_person",
        "at_ms",
        "reason",
        "settled_ms",
        "settled_by",
        "settled_note",
    ];
    const KEY: usize = 1;

    fn params(&self) -> Vec<Param<'_>> {
        let settled = self.settled.as_ref();
        vec![
            Param::id(self.id.0),
            Param::id(self.conversation.0),
            Param::number(self.seq.0),
            self.author.as_str().into(),
            self.by.as_str().into(),
            Param::number(self.at.millis()),
            self.reason.as_str().into(),
            Param::optional_number(settled.map(|settled| settled.at.millis())),
            optional_text(settled.map(|settled| settled.by.as_str())),
            optional_text(settled.map(|settled| settled.note.as_str())),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            id: ReportId(reader.id()?),
            conversation: ConversationId(reader.id()?),
            seq: reader.seq()?,
            author: reader.person()?,
            by: reader.person()?,
            at: reader.moment()?,
            reason: reader.text()?.to_owned(),
            settled: {
                let at = reader.optional_moment()?;
                let by = reader.optional(PersonId::parse)?;
                let note = reader.optional_text()?.unwrap_or_default().to_owned();
                at.zip(by).map(|(at, by)| Settlement { at, by, note })
            },
        })
    }
}

impl Entity for Audit {
    const TABLE: &'static str = "audit";
    const COLUMNS: &'static [&'static str] =
        &["id", "conversation", "at_ms", "by_person", "deed", "person", "seq", "note"];
    const KEY: usize = 1;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.id.0),
            scope(self.conversation),
            Param::number(self.at.millis()),
            self.by.as_str().into(),
            self.deed.name().into(),
            optional_text(self.person.as_ref().map(PersonId::as_str)),
            Param::optional_number(self.seq.map(|seq| seq.0)),
            self.note.as_str().into(),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            id: AuditId(reader.id()?),
            conversation: unscoped(reader.id()?),
            at: reader.moment()?,
            by: reader.person()?,
            deed: reader.named(AuditAction::named)?,
            person: reader.optional(PersonId::parse)?,
            seq: reader.optional_number()?.map(Seq),
            note: reader.text()?.to_owned(),
        })
    }
}
