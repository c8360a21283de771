//! Table mappings of communities, conversations, people and messages.

use super::select::Entity;
use super::session::{Columns, Param, corrupt};
use super::values::{json, list, optional_text, read_at};
use chat::rows::Found;
use chat::{
    Attachment, Block, ClientId, Community, CommunityId, Conversation, ConversationId, Deletion, Edit,
    Invitation, InvitationId, Key, KeyId, Kind, Member, Mention, Message, MessageId, Moment, Pair, Person,
    PersonId, Profile, Reaction, Revision, Role, RoomName, Seq, Settings,
};
use std::borrow::Cow;

/// Without the key, which is the community itself.
impl Entity for Community {
    const TABLE: &'static str = "communities";
    const COLUMNS: &'static [&'static str] = &["created_ms", "settings", "erasing_ms"];
    const KEY: usize = 0;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::number(self.created.millis()),
            json(&self.settings),
            Param::optional_number(self.erasing.map(Moment::millis)),
        ]
    }

    fn read(_: &dyn Columns, _: usize) -> Found<Self> {
        Err(corrupt("a community is read with its id"))
    }
}

/// `community, created_ms, settings, erasing_ms`.
pub(super) fn read_community(row: &dyn Columns) -> Found<Community> {
    let mut reader = read_at(row, 0);
    let id = reader.parsed(CommunityId::parse)?;
    let (created, settings) = (reader.moment()?, reader.json::<Settings>()?);
    Ok(Community { id, created, settings, erasing: reader.optional_moment()? })
}

/// A key includes its community, which has a column of its own.
impl Entity for Key {
    const TABLE: &'static str = "keys";
    const COLUMNS: &'static [&'static str] =
        &["id", "owner", "name", "purpose", "hash", "created_ms", "revoked_ms"];
    const KEY: usize = 1;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.id.0),
            self.community.as_str().into(),
            self.name.as_str().into(),
            json(&self.purpose),
            Param::Bytes(Cow::Borrowed(&self.hash)),
            Param::number(self.created.millis()),
            Param::optional_number(self.revoked.map(Moment::millis)),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            id: KeyId(reader.id()?),
            community: reader.parsed(CommunityId::parse)?,
            name: reader.text()?.to_owned(),
            purpose: reader.json()?,
            hash: reader.bytes()?.to_vec(),
            created: reader.moment()?,
            revoked: reader.optional_moment()?,
        })
    }
}

impl Entity for Person {
    const TABLE: &'static str = "people";
    const COLUMNS: &'static [&'static str] =
        &["id", "created_ms", "name", "avatar", "guest", "role", "receipts", "seen_ms", "erasing_ms"];
    const KEY: usize = 1;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            self.id.as_str().into(),
            Param::number(self.created.millis()),
            self.profile.name.as_str().into(),
            optional_text(self.profile.avatar.as_deref()),
            Param::flag(self.profile.guest),
            optional_text(self.profile.role.map(Role::name)),
            Param::flag(self.receipts),
            Param::number(self.seen.millis()),
            Param::optional_number(self.erasing.map(Moment::millis)),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            id: reader.person()?,
            created: reader.moment()?,
            profile: Profile {
                name: reader.text()?.to_owned(),
                avatar: reader.optional_text()?.map(str::to_owned),
                guest: reader.flag()?,
                role: reader.optional_text()?.and_then(Role::named),
            },
            receipts: reader.flag()?,
            seen: reader.moment()?,
            erasing: reader.optional_moment()?,
        })
    }
}

impl Entity for Block {
    const TABLE: &'static str = "blocks";
    const COLUMNS: &'static [&'static str] = &["by_person", "person", "at_ms"];
    const KEY: usize = 2;

    fn params(&self) -> Vec<Param<'_>> {
        vec![self.by.as_str().into(), self.person.as_str().into(), Param::number(self.at.millis())]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self { by: reader.person()?, person: reader.person()?, at: reader.moment()? })
    }
}

impl Entity for Conversation {
    const TABLE: &'static str = "conversations";
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "kind",
        "name",
        "pair",
        "title",
        "topic",
        "slow_mode_s",
        "members",
        "last_seq",
        "first_seq",
        "revision",
        "created_ms",
        "active_ms",
    ];
    const KEY: usize = 1;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.id.0),
            self.kind.name().into(),
            optional_text(self.name.as_ref().map(RoomName::as_str)),
            self.pair.as_ref().map_or(Param::Null, |pair| Param::from(pair.key())),
            self.title.as_str().into(),
            self.topic.as_str().into(),
            Param::number(u64::from(self.slow_mode_s)),
            Param::number(self.members),
            Param::number(self.last.0),
            Param::number(self.first.0),
            Param::number(self.revision.0),
            Param::number(self.created.millis()),
            Param::number(self.active.millis()),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            id: ConversationId(reader.id()?),
            kind: reader.named(Kind::named)?,
            name: reader.optional(RoomName::parse)?,
            pair: match reader.optional_text()? {
                Some(key) => Some(Pair::from_key(key).ok_or_else(|| corrupt("a pair of people is invalid"))?),
                None => None,
            },
            title: reader.text()?.to_owned(),
            topic: reader.text()?.to_owned(),
            slow_mode_s: reader.small()?,
            members: reader.number()?,
            last: reader.seq()?,
            first: reader.seq()?,
            revision: Revision(reader.number()?),
            created: reader.moment()?,
            active: reader.moment()?,
        })
    }
}

impl Entity for Member {
    const TABLE: &'static str = "members";
    const COLUMNS: &'static [&'static str] = &[
        "conversation",
        "person",
        "role",
        "joined_ms",
        "delivered_seq",
        "read_seq",
        "muted",
        "archived",
        "sent_ms",
    ];
    const KEY: usize = 2;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.conversation.0),
            self.person.as_str().into(),
            self.role.name().into(),
            Param::number(self.joined.millis()),
            Param::number(self.delivered.0),
            Param::number(self.read.0),
            Param::flag(self.muted),
            Param::flag(self.archived),
            Param::number(self.sent.millis()),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            conversation: ConversationId(reader.id()?),
            person: reader.person()?,
            role: reader.named(Role::named)?,
            joined: reader.moment()?,
            delivered: reader.seq()?,
            read: reader.seq()?,
            muted: reader.flag()?,
            archived: reader.flag()?,
            sent: reader.moment()?,
        })
    }
}

impl Entity for Invitation {
    const TABLE: &'static str = "invitations";
    const COLUMNS: &'static [&'static str] =
        &["id", "conversation", "person", "by_person", "at_ms", "until_ms", "uses"];
    const KEY: usize = 1;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.id.0),
            Param::id(self.conversation.0),
            optional_text(self.person.as_ref().map(PersonId::as_str)),
            self.by.as_str().into(),
            Param::number(self.at.millis()),
            Param::optional_number(self.until.map(Moment::millis)),
            Param::number(u64::from(self.uses)),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            id: InvitationId(reader.id()?),
            conversation: ConversationId(reader.id()?),
            person: reader.optional(PersonId::parse)?,
            by: reader.person()?,
            at: reader.moment()?,
            until: reader.optional_moment()?,
            uses: reader.small()?,
        })
    }
}

impl Entity for Message {
    const TABLE: &'static str = "messages";
    const COLUMNS: &'static [&'static str] = &[
        "conversation",
        "seq",
        "id",
        "sender",
        "client_id",
        "at_ms",
        "text",
        "reply_to",
        "mentions",
        "attachments",
        "edited_ms",
        "edits",
        "deleted_ms",
        "moderated",
        "revision",
    ];
    const KEY: usize = 2;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.conversation.0),
            Param::number(self.seq.0),
            Param::id(self.id.0),
            self.sender.as_str().into(),
            self.client_id.as_str().into(),
            Param::number(self.at.millis()),
            self.text.as_str().into(),
            Param::optional_number(self.reply_to.map(|seq| seq.0)),
            list(&self.mentions),
            list(&self.attachments),
            Param::optional_number(self.edited.map(Moment::millis)),
            Param::number(u64::from(self.edits)),
            Param::optional_number(self.deleted.map(|deletion| deletion.at.millis())),
            Param::flag(self.deleted.is_some_and(|deletion| deletion.moderated)),
            Param::number(self.revision.0),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            conversation: ConversationId(reader.id()?),
            seq: reader.seq()?,
            id: MessageId(reader.id()?),
            sender: reader.person()?,
            client_id: reader.parsed(ClientId::parse)?,
            at: reader.moment()?,
            text: reader.text()?.to_owned(),
            reply_to: reader.optional_number()?.map(Seq),
            mentions: reader.list()?,
            attachments: reader.list::<Attachment>()?,
            edited: reader.optional_moment()?,
            edits: reader.small()?,
            deleted: {
                let at = reader.optional_moment()?;
                let moderated = reader.flag()?;
                at.map(|at| Deletion { at, moderated })
            },
            revision: Revision(reader.number()?),
        })
    }
}

impl Entity for Edit {
    const TABLE: &'static str = "edits";
    const COLUMNS: &'static [&'static str] = &["conversation", "seq", "nth", "at_ms", "text"];
    const KEY: usize = 3;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.conversation.0),
            Param::number(self.seq.0),
            Param::number(u64::from(self.nth)),
            Param::number(self.at.millis()),
            self.text.as_str().into(),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            conversation: ConversationId(reader.id()?),
            seq: reader.seq()?,
            nth: reader.small()?,
            at: reader.moment()?,
            text: reader.text()?.to_owned(),
        })
    }
}

impl Entity for Reaction {
    const TABLE: &'static str = "reactions";
    const COLUMNS: &'static [&'static str] = &["conversation", "seq", "person", "emoji", "at_ms"];
    const KEY: usize = 4;

    fn params(&self) -> Vec<Param<'_>> {
        vec![
            Param::id(self.conversation.0),
            Param::number(self.seq.0),
            self.person.as_str().into(),
            self.emoji.as_str().into(),
            Param::number(self.at.millis()),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            conversation: ConversationId(reader.id()?),
            seq: reader.seq()?,
            person: reader.person()?,
            emoji: reader.text()?.to_owned(),
            at: reader.moment()?,
        })
    }
}

impl Entity for Mention {
    const TABLE: &'static str = "mentions";
    const COLUMNS: &'static [&'static str] = &["person", "conversation", "seq"];
    const KEY: usize = 3;

    fn params(&self) -> Vec<Param<'_>> {
        vec![self.person.as_str().into(), Param::id(self.conversation.0), Param::number(self.seq.0)]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self { person: reader.person()?, conversation: ConversationId(reader.id()?), seq: reader.seq()? })
    }
}
