//! Writes to the in-memory rows and their indexes.

use super::{MemoryRows, Shelf};
use crate::conversation::{Conversation, Member};
use crate::ids::{CommunityId, ConversationId, PersonId, Seq};
use crate::message::Message;
use crate::rows::{Record, Target};

impl MemoryRows {
    pub(super) fn shelf(&mut self, id: &CommunityId) -> &mut Shelf {
        self.0.entry(id.clone()).or_default()
    }
}

impl Shelf {
    pub(super) fn conversations_of(&self, person: &PersonId) -> impl Iterator<Item = ConversationId> {
        let start = (person.clone(), ConversationId(crate::Ulid::from_bytes([0; 16])));
        let all = self.memberships.range(start..);
        all.take_while(move |(who, _)| who == person).map(|&(_, id)| id)
    }

    pub(super) fn members_of(&self, id: ConversationId) -> impl Iterator<Item = &Member> {
        // `!` is the smallest character that an id can contain.
        let start = (id, PersonId::parse("!").expect("it is an id"));
        self.members.range(start..).take_while(move |((of, _), _)| *of == id).map(|(_, member)| member)
    }

    pub(super) fn insert_message(&mut self, message: &Message) {
        let place = (message.conversation, message.seq);
        self.names.insert(message.id, place);
        self.sent.insert((message.sender.clone(), message.client_id.clone()), place);
        for person in &message.mentions {
            self.mentions.insert((person.clone(), message.conversation, message.seq));
        }
        self.messages.insert(place, message.clone());
    }

    pub(super) fn forget_message(&mut self, message: &Message) {
        self.names.remove(&message.id);
        self.sent.remove(&(message.sender.clone(), message.client_id.clone()));
        for person in &message.mentions {
            self.mentions.remove(&(person.clone(), message.conversation, message.seq));
        }
        self.messages.remove(&(message.conversation, message.seq));
    }

    fn put_conversation(&mut self, row: &Conversation) {
        self.remove_conversation(row.id);
        self.conversations.insert(row.id, row.clone());
        row.name.clone().map(|name| self.rooms.insert(name, row.id));
        row.pair.clone().map(|pair| self.pairs.insert(pair, row.id));
    }

    fn remove_conversation(&mut self, id: ConversationId) {
        if let Some(old) = self.conversations.remove(&id) {
            old.name.map(|name| self.rooms.remove(&name));
            old.pair.map(|pair| self.pairs.remove(&pair));
        }
    }

    pub(super) fn put(&mut self, record: &Record) {
        match record.clone() {
            Record::Community(row) => self.community = Some(row),
            Record::Key(row) => drop(self.keys.insert(row.id, row)),
            Record::Person(row) => drop(self.people.insert(row.id.clone(), row)),
            Record::Block(row) => drop(self.blocks.insert((row.by.clone(), row.person.clone()), row)),
            Record::Revocation(row) => {
                self.revocations.insert((row.person.clone(), row.token_or_all().to_owned()), row);
            }
            Record::Conversation(row) => self.put_conversation(&row),
            Record::Member(row) => {
                self.memberships.insert((row.person.clone(), row.conversation));
                self.members.insert((row.conversation, row.person.clone()), row);
            }
            Record::Invitation(row) => drop(self.invitations.insert(row.id, row)),
            Record::Sanction(row) => {
                self.sanctions.insert((row.person.clone(), row.conversation, row.kind), row);
            }
            Record::Message(row) => self.insert_message(&row),
            Record::Edit(row) => drop(self.edits.insert((row.conversation, row.seq, row.nth), row)),
            Record::Reaction(row) => {
                let key = (row.conversation, row.seq, row.person.clone(), row.emoji.clone());
                self.reactions.insert(key, row);
            }
            Record::Mention(row) => drop(self.mentions.insert((row.person, row.conversation, row.seq))),
            Record::Report(row) => drop(self.reports.insert(row.id, row)),
            Record::Audit(row) => drop(self.audit.insert(row.id, row)),
        }
    }

    pub(super) fn remove(&mut self, target: &Target) {
        match target.clone() {
            Target::Community => self.community = None,
            Target::Key(id) => drop(self.keys.remove(&id)),
            Target::Person(id) => drop(self.people.remove(&id)),
            Target::Block { by, person } => drop(self.blocks.remove(&(by, person))),
            Target::Revocations { ended_before } => {
                self.revocations.retain(|_, row| row.ends > ended_before);
            }
            Target::Member { conversation, person } => {
                self.memberships.remove(&(person.clone(), conversation));
                self.members.remove(&(conversation, person));
            }
            Target::Conversation(id) => self.remove_conversation(id),
            Target::UnfinishedErasure(id) => drop(self.unfinished_erasures.remove(&id)),
            Target::Invitation(id) => drop(self.invitations.remove(&id)),
            Target::Report(id) => drop(self.reports.remove(&id)),
            Target::Audit(id) => drop(self.audit.remove(&id)),
            Target::Sanction { person, conversation, kind } => {
                self.sanctions.remove(&(person, conversation, kind));
            }
            Target::Message(message) => self.remove_message(&message),
            Target::Messages(messages) => messages.iter().for_each(|message| self.remove_message(message)),
            Target::Edits { conversation, seq } => self.remove_edits(conversation, seq),
            Target::Reaction { conversation, seq, person, emoji } => {
                self.reactions.remove(&(conversation, seq, person, emoji));
            }
            Target::Delivery { endpoint, id } => drop(self.deliveries.remove(&(endpoint, id))),
            Target::Deliveries { endpoint } => self.deliveries.retain(|(of, _), _| *of != endpoint),
            Target::DeliveriesOf(person) => self.deliveries.retain(|_, row| row.person != person),
            Target::DeliveriesAbout(conversation) => {
                self.deliveries.retain(|_, row| row.conversation != Some(conversation));
            }
            Target::DeadLetters { given_up_before } => self
                .deliveries
                .retain(|_, row| row.given_up.as_ref().is_none_or(|given_up| given_up.at >= given_up_before)),
            Target::Reactions { conversation, seq } => self.remove_reactions(conversation, seq),
        }
    }

    fn remove_message(&mut self, message: &Message) {
        self.forget_message(message);
        self.remove_edits(message.conversation, message.seq);
        self.remove_reactions(message.conversation, message.seq);
    }

    fn remove_edits(&mut self, conversation: ConversationId, seq: Seq) {
        self.edits.retain(|&(of, edited, _), _| (of, edited) != (conversation, seq));
    }

    fn remove_reactions(&mut self, conversation: ConversationId, seq: Seq) {
        self.reactions.retain(|&(of, reacted, ..), _| (of, reacted) != (conversation, seq));
    }
}
