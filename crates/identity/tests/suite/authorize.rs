//! Authorization by a host site, over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use identity::{
    Action, Authorizer, AuthorizerSettings, Failing, Question, SigningSecret, UnixSeconds, Verdict, verify,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::site::{self, Site, answer, eventually, outbound};

fn secret() -> SigningSecret {
    SigningSecret::mint([9; 32])
}

fn asking(site: &Site, settings: AuthorizerSettings) -> Arc<Authorizer> {
    Authorizer::new(site.target("/may"), secret().into(), outbound(), settings)
}

fn question(person: &str, object: &str) -> Question {
    Question { community: "club".into(), person: person.into(), action: Action::Join, object: object.into() }
}

#[tokio::test]
async fn a_site_is_asked_with_a_signed_question_and_believed() {
    let site = Site::start(|seen| async move {
        let asked: Value = serde_json::from_slice(&seen.body).expect("JSON");
        let allowed = asked["object"] == "room:club/lobby";
        answer(200, json!({"allow": allowed, "reason": "members\u{7} only", "ttl": 60}).to_string())
    })
    .await;
    let authorizer = asking(&site, AuthorizerSettings::default());
    assert_eq!(authorizer.ask(question("ann", "room:club/lobby")).await, Verdict::Allowed);
    let denied = Verdict::Denied { reason: Some("members only".into()) };
    assert_eq!(authorizer.ask(question("ann", "room:club/board")).await, denied);
    assert_eq!(authorizer.ask(question("ann", "room:club/board")).await, denied);
    let seen = site.seen();
    assert_eq!(seen.len(), 2, "the same question is answered from memory, denied or not");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    for request in &seen {
        let [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"]
            .map(|name| request.header(name).to_owned());
        let judged = verify(&secret(), &id, &timestamp, &signature, &request.body, UnixSeconds(now));
        assert_eq!(judged, Ok(()));
        assert_eq!(request.header("content-type"), "application/json");
    }
    assert_ne!(seen[0].header("webhook-id"), seen[1].header("webhook-id"));
    let body: Value = serde_json::from_slice(&seen[0].body).expect("JSON");
    let expected =
        json!({"community": "club", "person": "ann", "action": "join", "object": "room:club/lobby"});
    assert_eq!(body, expected);
    authorizer.forget("ann");
    authorizer.ask(question("ann", "room:club/lobby")).await;
    assert_eq!(site.seen().len(), 3);
}

#[tokio::test]
async fn equal_questions_at_once_are_one_request() {
    let gate = Arc::new(Semaphore::new(0));
    let at_site = gate.clone();
    let site = Site::start(move |_| {
        let gate = at_site.clone();
        async move {
            let _open = gate.acquire().await.expect("it stays");
            answer(200, r#"{"allow": true}"#)
        }
    })
    .await;
    let authorizer =
        asking(&site, AuthorizerSettings { timeout: site::DEADLINE, ..AuthorizerSettings::default() });
    let all: Vec<_> = (0..50)
        .map(|_| {
            let authorizer = authorizer.clone();
            tokio::spawn(async move { authorizer.ask(question("ann", "room:club/lobby")).await })
        })
        .collect();
    eventually("all have asked", || authorizer.counts().joined == 49).await;
    // The first caller may be cancelled; the others still get answers.
    all[0].abort();
    gate.add_permits(1);
    for one in all.into_iter().skip(1) {
        assert_eq!(one.await.expect("no panic"), Verdict::Allowed);
    }
    assert_eq!(site.seen().len(), 1);
}

#[tokio::test]
async fn no_more_requests_are_under_way_than_may_be() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let gate = Arc::new(Semaphore::new(0));
    let at_site = (now.clone(), most.clone(), gate.clone());
    let site = Site::start(move |_| {
        let (now, most, gate) = at_site.clone();
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            gate.acquire().await.expect("it stays").forget();
            now.fetch_sub(1, Ordering::SeqCst);
            answer(200, r#"{"allow": true}"#)
        }
    })
    .await;
    let settings =
        AuthorizerSettings { concurrency: 3, timeout: site::DEADLINE, ..AuthorizerSettings::default() };
    let authorizer = asking(&site, settings);
    let all: Vec<_> = (0..12)
        .map(|n| {
            let authorizer = authorizer.clone();
            tokio::spawn(async move { authorizer.ask(question("ann", &n.to_string())).await })
        })
        .collect();
    eventually("all have asked", || authorizer.counts().under_way == 12).await;
    site.has_seen(3).await;
    gate.add_permits(12);
    for one in all {
        assert_eq!(one.await.expect("no panic"), Verdict::Allowed);
    }
    assert_eq!((site.seen().len(), most.load(Ordering::SeqCst)), (12, 3));
}

#[tokio::test]
async fn what_is_no_answer_fails_as_configured() {
    let bodies = [
        (500, r#"{"allow": true}"#),
        (302, ""),
        (403, ""),
        (200, ""),
        (200, "{}"),
        (200, r#"{"allow": "yes"}"#),
    ];
    for (failing, verdict) in
        [(Failing::Closed, Verdict::Unavailable), (Failing::Open, Verdict::AllowedUnasked)]
    {
        for (status, body) in bodies {
            let site = Site::start(move |_| async move { answer(status, body) }).await;
            let authorizer = asking(&site, AuthorizerSettings { failing, ..AuthorizerSettings::default() });
            assert_eq!(authorizer.ask(question("ann", "o")).await, verdict, "{status} {body}");
            assert_eq!(authorizer.counts().failures, 1);
        }
        let site = Site::start(|_| async { std::future::pending().await }).await;
        let timeout = Duration::from_millis(50);
        let authorizer =
            asking(&site, AuthorizerSettings { failing, timeout, ..AuthorizerSettings::default() });
        assert_eq!(authorizer.ask(question("ann", "o")).await, verdict, "no answer at all");
        site.stop();
    }
}

#[tokio::test]
async fn a_site_that_is_away_is_left_alone() {
    let site = Site::start(|_| async { answer(500, "") }).await;
    let pause = Duration::from_secs(3600);
    let settings = AuthorizerSettings {
        failures_max: 3,
        pause_min: pause,
        pause_max: pause,
        ..AuthorizerSettings::default()
    };
    let authorizer = asking(&site, settings);
    for _ in 0..20 {
        assert_eq!(authorizer.ask(question("ann", "o")).await, Verdict::Unavailable);
    }
    assert_eq!(site.seen().len(), 3);
    let counts = authorizer.counts();
    assert!(counts.left_alone && counts.unasked == 17, "{counts:?}");
}
