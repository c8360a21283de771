//! What a client missed: while it was away, which the reply to its join has, and between that reply and its acceptance,
//! which is pushed.

use super::join::Place;
use super::{Brought, Joined};
use crate::audience::Shown;
use crate::channels::connection::Me;
use crate::looks;
use crate::messenger::Messenger;
use chat::limits::PAGE_MAX;
use chat::verbs::Page;
use chat::{ConversationId, Failure, Revision, Seq};
use gateway::{Context, Payload, Task};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recover {
    epoch: String,
    seq: Seq,
    /// The last known revision of edits, deletes and reactions.
    #[serde(default)]
    revision: Option<Revision>,
}

/// What a client sees first.
pub(super) struct Seen {
    pub(super) page: Arc<Page>,
    /// Whether the page is everything that was missed; `None` if recovery was not requested.
    pub(super) recovered: Option<bool>,
    pub(super) reason: Option<&'static str>,
    /// Messages that were edited, deleted or reacted to meanwhile.
    pub(super) changed: Vec<chat::Shown>,
}

impl Seen {
    pub(super) async fn read(
        messenger: &Messenger,
        me: &Me,
        conversation: ConversationId,
        recover: Option<Recover>,
    ) -> Result<Self, Failure> {
        let newest = || messenger.newest(&me.community, conversation, me.id());
        let whole = |page, recovered, reason| Self { page, recovered, reason, changed: Vec::new() };
        let Some(recover) = recover else { return Ok(whole(newest().await?, None, None)) };
        if recover.epoch != messenger.epoch() {
            return Ok(whole(newest().await?, Some(false), Some("epoch")));
        }
        let missed = messenger.missed(&me.community, conversation, me.id(), recover.seq).await?;
        let conversation_now = &missed.conversation;
        if recover.seq > conversation_now.last {
            return Ok(whole(newest().await?, Some(false), Some("epoch")));
        }
        if recover.seq.next() < conversation_now.first {
            return Ok(whole(newest().await?, Some(false), Some("too_old")));
        }
        if missed.more {
            return Ok(whole(newest().await?, Some(false), Some("too_many")));
        }
        let Some(since) = recover.revision.filter(|known| *known < conversation_now.revision) else {
            return Ok(whole(missed, Some(true), None));
        };
        let changed = messenger.changed_while_away(&me.community, conversation, me.id(), since).await?;
        if changed.more {
            return Ok(whole(newest().await?, Some(false), Some("too_many")));
        }
        Ok(Self { page: missed, recovered: Some(true), reason: None, changed: changed.messages.clone() })
    }
}

/// What the reply to the join showed the client, to be compared with the state when the join is accepted.
pub(super) struct Snapshot {
    /// The last message of the page.
    pub(super) last: Seq,
    /// The page's revision of edits, deletes and reactions.
    pub(super) revision: Revision,
    /// The community's look.
    pub(super) look: Arc<str>,
    /// The room's change counter.
    pub(super) changes: u32,
    /// Who was present; `None` in a crowd, and for a visitor.
    pub(super) shown: Option<Shown>,
}

impl Joined {
    /// Pushes what has changed since the reply to the join.
    pub(super) fn catch_up(&mut self, cx: &mut Context<'_>) {
        let Place { connection, conversation, .. } = &self.place;
        let audience = &connection.messenger.inner.audience;
        let snapshot = self.rare.as_deref_mut().and_then(|rare| rare.snapshot.as_mut());
        let Some(snapshot) = snapshot else { return };
        let community = &connection.here().community;
        if let Some(newer) = audience.newer_look(community, &snapshot.look) {
            cx.push(looks::EVENT, Payload::Json(&newer));
        }
        let since = |shown| audience.present_since(community, *conversation, shown);
        for presence in snapshot.shown.take().map(since).unwrap_or_default() {
            cx.push("presence", json!(presence));
        }
        if audience.changes(community, *conversation) != snapshot.changes {
            self.read_conversation(cx);
        }
        self.read_what_came_meanwhile(cx);
    }

    /// Many that come back at once may have stopped at the same message, so these reads are shared.
    fn read_what_came_meanwhile(&mut self, cx: &mut Context<'_>) {
        let snapshot = self.rare.as_deref().and_then(|rare| rare.snapshot.as_ref());
        let Some(Snapshot { last, revision: since, .. }) = snapshot else { return };
        let (last, since) = (*last, *since);
        let (messenger, me) = (self.place.messenger(), self.place.me());
        let (audience, conversation) = (&messenger.inner.audience, self.place.conversation);
        let head = audience.head(&me.community, conversation);
        if head > last {
            let (messenger, me) = (messenger.clone(), me.clone());
            cx.spawn(Task::future(async move {
                let read = messenger.said_meanwhile(&me.community, conversation, me.id(), (last, head));
                Brought::Missed(read.await)
            }));
        }
        if audience.revision(&me.community, conversation) > since {
            let (messenger, me) = (messenger.clone(), me.clone());
            cx.spawn(Task::future(async move {
                let read = messenger.changed(&me.community, conversation, me.id(), since, PAGE_MAX);
                Brought::Changed(read.await)
            }));
        }
        if head <= last {
            self.forget_snapshot();
        }
    }

    /// Drops the snapshot, and frees the rare part if it is empty then.
    fn forget_snapshot(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.snapshot = None;
        }
        self.rare.take_if(|rare| rare.sending.is_silent() && !rare.visits);
    }

    /// The room's title, topic text or rules differ from what the client was shown.
    fn read_conversation(&self, cx: &mut Context<'_>) {
        let (messenger, me, conversation) =
            (self.place.messenger().clone(), self.place.me().clone(), self.place.conversation);
        cx.spawn(Task::future(async move {
            Brought::Conversation(messenger.newest(&me.community, conversation, me.id()).await)
        }));
    }

    /// A message that arrives twice has the same sequence number, so the client can drop it.
    pub(super) fn push_missed(&mut self, cx: &mut Context<'_>, page: &Page) {
        for shown in &page.messages {
            if let Some(snapshot) = self.rare.as_deref_mut().and_then(|rare| rare.snapshot.as_mut()) {
                snapshot.last = snapshot.last.max(shown.message.seq);
            }
            cx.push("msg:new", json!(shown));
        }
        if page.more {
            self.read_what_came_meanwhile(cx);
        } else {
            self.forget_snapshot();
        }
    }
}

#[cfg(test)]
mod tests;
