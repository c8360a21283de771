//! Rooms: made, changed, found; who is in them.

use super::joining::enter;
use super::listing::{Listed, with_one_more};
use super::moderating::{Entry, log, log_entry};
use crate::access::{self, Access};
use crate::conversation::{Conversation, Member};
use crate::failure::{Conflict, Thing};
use crate::ids::{ConversationId, PersonId, Revision, RoomName, Seq};
use crate::kind::Kind;
use crate::limits::{NAME_BYTES_MAX, NOTE_BYTES_MAX, SLOW_MODE_S_MAX};
use crate::moderation::Deed;
use crate::permissions::{Action, Role};
use crate::problem::{Problem, Problems};
use crate::rows::Rows;
use crate::{By, Call, Command, Failure, Refusal, text};

/// Makes a room. For keys and moderators of the whole community, and for people with an account where the community lets
/// them; who makes it owns it.
///
/// Fails with [`Conflict::NameTaken`], also for a private room's name: names are few, and it says nothing else.
#[derive(Clone, Debug)]
pub struct CreateRoom {
    /// Its name in the URL.
    pub name: RoomName,
    /// Which kind of room.
    pub kind: Kind,
    /// For people.
    pub title: String,
    /// What it is about.
    pub topic: String,
    /// Seconds between two messages of one member.
    pub slow_mode_s: u32,
}

impl CreateRoom {
    /// A public one.
    pub fn public(name: RoomName, title: &str) -> Self {
        Self { name, kind: Kind::Public, title: title.to_owned(), topic: String::new(), slow_mode_s: 0 }
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
        let description =
            Description { title: &self.title, topic: &self.topic, slow_mode_s: self.slow_mode_s };
        let (title, topic) = description.checked(self.kind)?;
        if rows.room(&call.community, &self.name)?.is_some() {
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
        log(rows, call, Deed::CreateRoom, Some(room.id))?;
        Ok(room)
    }
}

/// A conversation without anybody and anything in it.
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

/// Changes a room, or a group's title and topic text: what is none stays. Title, topic and slow mode need
/// [`Action::Describe`], the kind needs [`Action::Administer`].
#[derive(Clone, Debug)]
pub struct ChangeRoom {
    /// Which.
    pub conversation: ConversationId,
    /// Another kind of room.
    pub kind: Option<Kind>,
    /// Another title.
    pub title: Option<String>,
    /// Another topic text.
    pub topic: Option<String>,
    /// Another slow mode.
    pub slow_mode_s: Option<u32>,
}

impl ChangeRoom {
    /// Changes nothing yet.
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
        let entry = Entry { note: room.title.clone(), ..Entry::of(Deed::ChangeRoom, Some(id)) };
        log_entry(rows, call, entry)?;
        Ok(room)
    }
}

/// A room by its name in the URL. Absent for who may not see it.
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

/// A conversation by its id, with the asker's part in it. Absent for who may not see it.
#[derive(Clone, Copy, Debug)]
pub struct ReadConversation {
    /// Which.
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

/// The rooms that the asker can see without being in them, by name: public ones, and members' rooms for who has an
/// account. Keys and moderators of the whole community see the private ones, too.
#[derive(Clone, Debug)]
pub struct Rooms {
    /// Those after it.
    pub after: Option<RoomName>,
    /// How many.
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
            // A page may have fewer rows than asked for; `next` still tells whether there are more.
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

/// Who is in a conversation, by id. Needs [`Action::SeeMembers`].
#[derive(Clone, Debug)]
pub struct Members {
    /// Which.
    pub conversation: ConversationId,
    /// Those after it.
    pub after: Option<PersonId>,
    /// How many.
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

/// Others learn who is there and as what; cursors have a verb of their own, which looks at who lets others know.
pub(super) fn hide_what_is_private(call: &Call, member: &mut Member) {
    if call.by.name() != member.person {
        member.delivered = Seq(0);
        member.read = Seq(0);
        member.muted = false;
        member.archived = false;
    }
}
