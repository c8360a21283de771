//! Verbs whose answers concern nobody but the requester: they read, or change what nobody else sees.

use super::News;
use crate::notice_batch::NoticeBatch;
use chat::Asked;
use chat::verbs::{
    AuditLog, Blocks, Communities, Conversations, CountDeadLetters, DeadLetters, EditsOf, EndDelivery,
    Export, FindKey, FindRoom, GiveUp, GoneGuests, HalfErasedCommunities, HalfErasedConversations,
    HalfErasedPeople, Invitations, KeepDelivery, Keys, LastSeen, Members, MembershipsOf, NoteAttempt,
    NoteSeen, OwnReactions, People, ReadCommunity, ReadConversation, ReadMessage, ReadPage, ReadPerson,
    ReadReceipts, Reports, Revocations, Rooms, Sanctions, SearchMessages, Settle, Undelivered,
};

macro_rules! quiet {
    ($($verb:ty)*) => {
        $(impl News for $verb {
            type Kept = ();

            fn keep(&self) {}

            fn tell((): (), _: &Self::Answer, _: &mut NoticeBatch<'_>) {}
        })*
    };
}

quiet! {
    Asked<AuditLog>
    Asked<Blocks>
    Asked<Conversations>
    Asked<CountDeadLetters>
    Asked<DeadLetters>
    Asked<EditsOf>
    Asked<EndDelivery>
    Asked<Export>
    Asked<FindKey>
    Asked<FindRoom>
    Asked<GiveUp>
    Asked<GoneGuests>
    Asked<Invitations>
    Asked<KeepDelivery>
    Asked<Keys>
    Asked<LastSeen>
    Asked<Members>
    Asked<MembershipsOf>
    Asked<NoteAttempt>
    Asked<NoteSeen>
    Asked<OwnReactions>
    Asked<People>
    Asked<ReadCommunity>
    Asked<ReadConversation>
    Asked<ReadMessage>
    Asked<ReadPage>
    Asked<ReadPerson>
    Asked<ReadReceipts>
    Asked<Reports>
    Asked<Revocations>
    Asked<Rooms>
    Asked<Sanctions>
    Asked<SearchMessages>
    Asked<Settle>
    Communities
    HalfErasedPeople
    HalfErasedCommunities
    HalfErasedConversations
    Undelivered
}
