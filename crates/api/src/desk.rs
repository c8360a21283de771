//! What an operation works at: who asks, where, and the ways to the messenger.

use crate::Shared;
use crate::caller::Caller;
use crate::entropy;
use crate::problem::Problem;
use crate::shapes::ids::Reference;
use chat::verbs::{FindRoom, ReadConversation, RevokeKey};
use chat::{
    Asked, By, Call, CommunityId, ConversationId, Entropy, Failure, FieldProblem, KeyId, Moment, PersonId,
    Verb,
};
use messenger::{AllowedRooms, News, Spent};
use std::sync::Arc;

/// One request at work.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Caller,
    /// As whom a key or the operator acts.
    pub(crate) acting: Option<PersonId>,
    /// The path's; operations without one are the operator's.
    pub(crate) community: Option<CommunityId>,
    pub(crate) now: Moment,
}

impl Desk {
    /// The path's community.
    ///
    /// # Errors
    /// The path has none: a mistake of the table, told as what it is.
    pub(crate) fn community(&self) -> Result<&CommunityId, Problem> {
        self.community.as_ref().ok_or_else(Problem::not_found)
    }

    /// On whose behalf this is.
    pub(crate) fn by(&self) -> By {
        match (&self.caller, &self.acting) {
            (Caller::Person { id, .. }, _) => By::Person(id.clone()),
            // Whom no rule knows.
            (Caller::Stranger, _) => By::Person(PersonId::erased()),
            (Caller::Operator | Caller::Key { .. }, Some(person)) => By::Person(person.clone()),
            (Caller::Operator | Caller::Key { .. }, None) => By::Service,
        }
    }

    /// On behalf of a person whom the path names: themselves, or a key for them. For anybody else there is no such person.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) fn by_person(&self, person: &PersonId) -> Result<By, Problem> {
        match &self.caller {
            Caller::Person { id, .. } if id != person => Err(Problem::not_found()),
            Caller::Stranger => Err(Problem::not_found()),
            Caller::Person { .. } | Caller::Operator | Caller::Key { .. } => Ok(By::Person(person.clone())),
        }
    }

    /// Whether a key or the operator asks, and does not act as somebody.
    pub(crate) fn is_service(&self) -> bool {
        self.by() == By::Service
    }

    /// Asks on behalf of who calls.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) async fn ask<C>(&self, command: C) -> Result<<Asked<C> as Verb>::Answer, Problem>
    where
        Asked<C>: News,
    {
        self.ask_as(self.by(), command).await
    }

    /// Asks on behalf of somebody.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) async fn ask_as<C>(&self, by: By, command: C) -> Result<<Asked<C> as Verb>::Answer, Problem>
    where
        Asked<C>: News,
    {
        let call = self.call(by)?;
        Ok(self.shared.messenger.perform(call.ask(command)).await?)
    }

    /// Revokes a key, whatever it is for: it counts no more when this is done, and an endpoint of webhooks is told nothing more,
    /// as the keyring and the webhooks learn of it with the commit.
    ///
    /// # Errors
    /// As [`RevokeKey`] says.
    pub(crate) async fn revoke_key(&self, key: KeyId) -> Result<(), Problem> {
        self.ask(RevokeKey { key }).await.map(drop)
    }

    /// Lets pass who may come into a conversation, as far as the community's own site says. Keys are that site's, and it is
    /// not asked about them.
    ///
    /// # Errors
    /// `refused_by_site`, `site_unavailable`.
    pub(crate) async fn permit_join(&self, conversation: ConversationId) -> Result<(), Problem> {
        match &self.caller {
            Caller::Person { id, .. } => {
                Ok(self.shared.messenger.permit_join(self.community()?, id, conversation).await?)
            }
            Caller::Operator | Caller::Key { .. } => Ok(()),
            Caller::Stranger => Err(Problem::not_found()),
        }
    }

    /// The same for who says something; and takes one of this minute's messages, of the community and of a person, also where
    /// a key acts as them, to be [asked with](Desk::ask_spending). The operator is not refused.
    ///
    /// # Errors
    /// `rate_limited`, `refused_by_site`, `site_unavailable`.
    pub(crate) async fn permit_send(&self, conversation: ConversationId) -> Result<Spent, Problem> {
        let by = self.by();
        let is_free = by == By::Service && matches!(self.caller, Caller::Operator);
        let spent = if is_free {
            Spent::nothing()
        } else {
            self.shared.messenger.spend_message(self.community()?, &by).await??
        };
        match &self.caller {
            Caller::Person { id, .. } => {
                self.shared.messenger.permit_send(self.community()?, id, conversation).await?;
            }
            Caller::Operator | Caller::Key { .. } => {}
            Caller::Stranger => return Err(Problem::not_found()),
        }
        Ok(spent)
    }

    /// Asks on behalf of who calls with what [`Desk::permit_send`] took.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) async fn ask_spending<C>(
        &self,
        spent: Spent,
        command: C,
    ) -> Result<<Asked<C> as Verb>::Answer, Problem>
    where
        Asked<C>: News,
    {
        let call = self.call(self.by())?;
        Ok(self.shared.messenger.perform_spending(call.ask(command), spent).await?)
    }

    /// A call with an id of its own.
    ///
    /// # Errors
    /// The machine has no random numbers.
    pub(crate) fn call(&self, by: By) -> Result<Call, Problem> {
        let entropy = Entropy(entropy::bytes()?);
        Ok(Call { community: self.community()?.clone(), by, now: self.now, entropy })
    }

    /// The id of a conversation that the path or a query names, if the caller may see it.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) async fn find(&self, reference: &Reference) -> Result<ConversationId, Problem> {
        self.find_as(self.by(), reference).await
    }

    /// The same on behalf of somebody.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) async fn find_as(&self, by: By, reference: &Reference) -> Result<ConversationId, Problem> {
        if let (Reference::Id(id), true) = (reference, self.rooms().are_all()) {
            return Ok(*id);
        }
        let found = match reference {
            Reference::Id(id) => self.ask_as(by, ReadConversation { conversation: *id }).await?.0,
            Reference::Room(name) => self.ask_as(by, FindRoom { name: name.clone() }).await?,
        };
        if self.rooms().allow(&found) { Ok(found.id) } else { Err(Problem::not_found()) }
    }

    /// The id of a conversation that a query names, if it names one.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) async fn find_if_named(
        &self,
        reference: Option<&Reference>,
    ) -> Result<Option<ConversationId>, Problem> {
        match reference {
            Some(reference) => self.find(reference).await.map(Some),
            None => Ok(None),
        }
    }

    /// The rooms that what the caller showed is for.
    pub(crate) fn rooms(&self) -> &AllowedRooms {
        match &self.caller {
            Caller::Person { rooms, .. } => rooms,
            Caller::Operator | Caller::Key { .. } | Caller::Stranger => &AllowedRooms::ALL,
        }
    }
}

/// Reads a cursor that an answer's `next` gave.
///
/// # Errors
/// It is none.
pub(crate) fn cursor<T>(
    field: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, chat::Problem>,
) -> Result<Option<T>, Problem> {
    let Some(text) = text else {
        return Ok(None);
    };
    parse(text).map(Some).map_err(|problem| Problem::field(problem.at(field)))
}

/// A field breaks a rule that the type of the input cannot say.
pub(crate) fn invalid(field: &str, code: &'static str, message: impl Into<String>) -> Problem {
    Problem::from(Failure::Invalid(vec![FieldProblem {
        field: field.to_owned(),
        code,
        message: message.into(),
    }]))
}
