//! Rooms: creating, changing and finding them, and listing their members.

use super::joining::enter;
use super::listing::{Listed, with_one_more};
use super::moderating::{Entry, log, log_entry};
use crate::access::{self, Access};
use crate::conversation::{Conversation, Member};
use crate::failure::{Conflict, Thing};
use crate::ids::{ConversationId, PersonId, Revision, RoomName, Seq};
use crate::kind::Kind;
use crate::limits::{NAME_BYTES_MAX, NOTE_BYTES_MAX, SLOW_MODE_S_MAX};
use crate::moderation::AuditAction;
use crate::permissions::{Action, Role};
use crate::problem::{Problem, Problems};
use crate::rows::Rows;
use crate::{By, Call, Command, Failure, Refusal, text};

/// Creates a room. For keys and moderators of the whole community, and for people with an account where the community
/// allows it; the creator owns the room.
///
/// Fails with [`Conflict::NameTaken`], even if the name belongs to a private room: names are few, and it reveals
/// nothing else.
/// It also fails while a room of that name is being erased.
#[derive(Clone, Debug)]
pub struct CreateRoom {
    /// Its name in URLs.
    pub name: RoomName,
    /// The kind of room.
    pub kind: Kind,
    /// Display title.
    pub title: String,
    /// What it is about.
    pub topic: String,
    /// Slow mode: minimum seconds between two messages of one member; 0 when off.
    pub slow_mode_s: u32,
}

impl CreateRoom {
    /// A public room.
    pub fn public(name: RoomName, title: &str) -> Self {
        Self { name, kind: Kind::Public, title: title.to_owned(), topic: String::new(), slow_mode_s: 0 }
    }

    /// Returns title and topic as they are stored.
    pub(super) fn checked(&self) -> Result<(String, String), Failure> {
        let Self { title, topic, slow_mode_s, .. } = self;
        Description { title, topic, slow_mode_s: *slow_mode_s }.checked(self.kind)
    }
}

impl Command for CreateRoom {
    type Answer = Conversation;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Conversation, Failure> {
        let community = access::community(rows, call)?;
        match access::community_role(rows, call, Role::Moderator, Action::Administer) {
            Err(Failure::Refused(_)) if community.settings.people_make_rooms => {
                let may =
                    !access::asker(rows, call)?.profile.guest && access::community_ban(rows, call)?.is_none();
                may.then_some(()).ok_or(Refusal::NotPermitted(Action::Administer))?;
            }
            other => other?,
        }
        let (title, topic) = self.checked()?;
        if rows.room(&call.community, &self.name)?.is_some()
            || rows.unfinished_erasure_named(&call.community, &self.name)?.is_some()
        {
            return Err(Conflict::NameTaken.into());
        }
        let mut room = Conversation {
            name: Some(self.name.clone()),
            title,
            topic,
            slow_mode_s: self.slow_mode_s,
            ..empty(call, self.kind)
        };
        if let By::Person(person) = &call.by {
            super::joining::require_room_for_one_more(rows, call, person)?;
            enter(rows, call, &mut room, person.clone(), Role::Owner)?;
        } else {
            rows.put(&call.community, &room.clone().into())?;
        }
        log(rows, call, AuditAction::CreateRoom, Some(room.id))?;
        Ok(room)
    }
}

/// An empty conversation, without members or messages.
pub(super) fn empty(call: &Call, kind: Kind) -> Conversation {
    Conversation {
        id: ConversationId(call.id(0)),
        kind,
        name: None,
        pair: None,
        title: String::new(),
        topic: String::new(),
        slow_mode_s: 0,
        members: 0,
        last: Seq(0),
        first: Seq(1),
        revision: Revision(0),
        created: call.now,
        active: call.now,
    }
}

struct Description<'a> {
    title: &'a str,
    topic: &'a str,
    slow_mode_s: u32,
}

impl Description<'_> {
    fn checked(&self, kind: Kind) -> Result<(String, String), Failure> {
        let mut problems = Problems::default();
        problems
            .require(kind.is_room(), "kind", || Problem::new("form", "must be public, members or private"));
        let title = problems.check("title", text::line(self.title, NAME_BYTES_MAX)).unwrap_or_default();
        let topic = problems.check("topic", text::lines(self.topic, NOTE_BYTES_MAX)).unwrap_or_default();
        problems.require(self.slow_mode_s <= SLOW_MODE_S_MAX, "slow_mode_s", || {
            Problem::new("range", format!("must be at most {SLOW_MODE_S_MAX}"))
        });
        problems.or((title, topic))
    }
}

/// Changes a room, or a group's title and topic; `None` leaves a field as it is. Title, topic and slow mode need
/// [`Action::Describe`], the kind needs [`Action::Administer`].
#[derive(Clone, Debug)]
pub struct ChangeRoom {
    /// The conversation.
    pub conversation: ConversationId,
    /// The new kind of room.
    pub kind: Option<Kind>,
    /// The new title.
    pub title: Option<String>,
    /// The new topic.
    pub topic: Option<String>,
    /// The new slow mode.
    pub slow_mode_s: Option<u32>,
}

impl ChangeRoom {
    /// A change of nothing, to be filled in.
    pub const fn of(conversation: ConversationId) -> Self {
        Self { conversation, kind: None, title: None, topic: None, slow_mode_s: None }
    }
}

impl Command for ChangeRoom {
    type Answer = Conversation;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Conversation, Failure> {
        let id = self.conversation;
        let access = Access::to(rows, call, id, Action::Describe)?;
        let mut room = access.conversation.clone();
        if let Some(kind) = self.kind.filter(|&kind| kind != room.kind) {
            access.require(Action::Administer)?;
            if !room.kind.is_room() {
                return Err(Refusal::NotPermitted(Action::Administer).into());
            }
            room.kind = kind;
        }
        room.slow_mode_s = self.slow_mode_s.unwrap_or(room.slow_mode_s);
        let description = Description {
            title: self.title.as_deref().unwrap_or(&room.title),
            topic: self.topic.as_deref().unwrap_or(&room.topic),
            slow_mode_s: room.slow_mode_s,
        };
        let checked_as = if room.kind == Kind::Group { Kind::Private } else { room.kind };
        (room.title, room.topic) = description.checked(checked_as)?;
        rows.put(&call.community, &room.clone().into())?;
        let entry = Entry { note: room.title.clone(), ..Entry::of(AuditAction::ChangeRoom, Some(id)) };
        log_entry(rows, call, entry)?;
        Ok(room)
    }
}

/// Returns a room by its name in the URL. Absent for those who may not see it.
#[derive(Clone, Debug)]
pub struct FindRoom {
    /// Its name.
    pub name: RoomName,
}

impl Command for FindRoom {
    type Answer = Conversation;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Conversation, Failure> {
        let room = rows.room(&call.community, &self.name)?.ok_or(Failure::Absent(Thing::Conversation))?;
        let access = Access::before(rows, call, room)?;
        access.require(Action::See)?;
        Ok(access.conversation)
    }
}

/// Returns a conversation by its id, with the caller's membership. Absent for those who may not see it.
#[derive(Clone, Copy, Debug)]
pub struct ReadConversation {
    /// The conversation.
    pub conversation: ConversationId,
}

impl Command for ReadConversation {
    type Answer = (Conversation, Option<Member>);
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        let access = Access::to(rows, call, self.conversation, Action::See)?;
        Ok((access.conversation, access.member))
    }
}

/// Lists the rooms that the caller can see without being a member, by name: public rooms, and members' rooms for people
/// with an account. Keys and moderators of the whole community also see private ones.
#[derive(Clone, Debug)]
pub struct Rooms {
    /// Only rooms after this one.
    pub after: Option<RoomName>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for Rooms {
    type Answer = Listed<Conversation, RoomName>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        access::community(rows, call)?;
        let all = access::passes(access::community_role(rows, call, Role::Moderator, Action::See))?;
        let found = rows.rooms(&call.community, self.after.as_ref(), all, with_one_more(self.limit))?;
        let mut listed = Listed::of(found, self.limit, |room| room.name.clone());
        if let By::Person(person) = &call.by {
            // A page may have fewer rows than requested; `next` still shows whether there are more.
            let own = access::own_facts(rows, call, person)?;
            let mut visible = Vec::with_capacity(listed.rows.len());
            for room in listed.rows {
                let access = Access::by_facts(rows, call, room, own.clone())?;
                if access.may(Action::See) {
                    visible.push(access.conversation);
                }
            }
            listed.rows = visible;
        }
        Ok(Listed { rows: listed.rows, next: listed.next.flatten() })
    }
}

/// Lists a conversation's members, by id. Needs [`Action::SeeMembers`].
#[derive(Clone, Debug)]
pub struct Members {
    /// The conversation.
    pub conversation: ConversationId,
    /// Only people after this one.
    pub after: Option<PersonId>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for Members {
    type Answer = Listed<Member, PersonId>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        Access::to(rows, call, self.conversation, Action::SeeMembers)?;
        let limit = with_one_more(self.limit);
        let found = rows.members(&call.community, self.conversation, self.after.as_ref(), limit)?;
        let mut listed = Listed::of(found, self.limit, |member| member.person.clone());
        for member in &mut listed.rows {
            hide_what_is_private(call, member);
        }
        Ok(listed)
    }
}

/// Others see who is a member and with which role; cursors have a verb of their own, which respects who shares
/// receipts.
pub(super) fn hide_what_is_private(call: &Call, member: &mut Member) {
    if call.by.name() != member.person {
        member.delivered = Seq(0);
        member.read = Seq(0);
        member.muted = false;
        member.archived = false;
    }
}
