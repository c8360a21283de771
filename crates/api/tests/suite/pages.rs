//! Pages in browsers: those that a community lists may send requests and read answers, others may not.

use crate::house::{self, Answer, House, token};
use axum::http::HeaderMap;
use serde_json::json;

const MESSAGES: &str = "/api/v1/communities/acme/conversations/room:lobby/messages";
const OWN: &str = "https://acme.example";
const FOREIGN: &str = "https://elsewhere.example";

/// A community with its own site's origin in its list, and one without a list.
async fn furnished() -> House {
    let house = House::new();
    for community in ["acme", "open"] {
        house.community(community).await;
        house.room(community, "lobby").await;
    }
    let settings = json!({ "name": "acme", "origins": [OWN] });
    house.operate("PUT", "/api/v1/communities/acme", Some(settings)).await.ok();
    house
}

async fn from_page(house: &House, path: &str, origin: &str, bearer: &str) -> Answer {
    let bearer = format!("Bearer {bearer}");
    house.ask_with("GET", path, &[("origin", origin), ("authorization", &bearer)], None).await
}

async fn preflight(house: &House, path: &str, origin: &str) -> Answer {
    let asked = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type"),
    ];
    house.ask_with("OPTIONS", path, &asked, None).await
}

fn allowed<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().expect("text"))
}

#[tokio::test]
async fn a_page_that_the_community_names_asks_with_a_persons_token_and_reads_the_answers() {
    let house = furnished().await;
    let asked = preflight(&house, MESSAGES, OWN).await;
    assert_eq!(asked.status.as_u16(), 204);
    let told = |name| allowed(&asked.headers, name);
    assert_eq!(told("access-control-allow-origin"), Some(OWN));
    assert_eq!(told("access-control-allow-methods"), Some("GET, POST"));
    assert_eq!(told("access-control-allow-headers"), Some("Authorization, Content-Type, Idempotency-Key"));
    assert_eq!((told("access-control-max-age"), told("vary")), (Some("600"), Some("Origin")));
    assert_eq!(told("access-control-allow-credentials"), None);
    for (path, status) in [(MESSAGES, 200), ("/api/v1/communities/acme/people/nobody", 404)] {
        let read = from_page(&house, path, OWN, &token("acme", "ann")).await;
        assert_eq!(read.status.as_u16(), status, "{}", read.text);
        assert_eq!(allowed(&read.headers, "access-control-allow-origin"), Some(OWN));
        let told = allowed(&read.headers, "access-control-expose-headers");
        assert!(told.is_some_and(|told| told.contains("Retry-After")), "{told:?}");
        assert_eq!(allowed(&read.headers, "vary"), Some("Origin"));
    }
    // It can also read why it was refused.
    let refused = from_page(&house, MESSAGES, OWN, "no.such.token").await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (401, "token_invalid"));
    assert_eq!(allowed(&refused.headers, "access-control-allow-origin"), Some(OWN));
}

#[tokio::test]
async fn a_page_that_the_community_does_not_name_is_refused_and_reads_nothing() {
    let house = furnished().await;
    let before = house.export("acme");
    for origin in [FOREIGN, "null", "https://acme.example.evil", "http://acme.example"] {
        let asked = preflight(&house, MESSAGES, origin).await;
        assert_eq!((asked.status.as_u16(), asked.code().as_str()), (403, "origin_refused"), "{origin}");
        let bearer = format!("Bearer {}", token("acme", "ann"));
        let headers = [("origin", origin), ("authorization", bearer.as_str())];
        let said =
            house.ask_with("POST", MESSAGES, &headers, Some(json!({ "text": "hi" }).to_string())).await;
        assert_eq!((said.status.as_u16(), said.code().as_str()), (403, "origin_refused"), "{origin}");
        let guests = "/api/v1/communities/acme/guests";
        let guest = house.ask_with("POST", guests, &[("origin", origin)], Some("{}".into())).await;
        assert_eq!(guest.code(), "origin_refused");
        for answer in [asked, said] {
            assert_eq!(allowed(&answer.headers, "access-control-allow-origin"), None);
            assert_eq!(allowed(&answer.headers, "vary"), Some("Origin"));
        }
    }
    let said = |records: &[chat::rows::Record]| {
        records.iter().filter(|record| matches!(record, chat::rows::Record::Message(_))).count()
    };
    assert_eq!(said(&house.export("acme")), said(&before));
}

#[tokio::test]
async fn what_is_no_page_and_a_key_are_asked_for_no_origin() {
    let house = furnished().await;
    let own = house.ask("GET", MESSAGES, &token("acme", "ann"), house::NOTHING).await;
    own.ok();
    let key = house.key("acme", &["list"]).await;
    let asked = house.ask("GET", MESSAGES, &key, house::NOTHING).await;
    assert_eq!(allowed(&asked.headers, "access-control-allow-origin"), None);
    asked.ok();
    let foreign = from_page(&house, MESSAGES, FOREIGN, &key).await;
    assert_eq!(allowed(&foreign.headers, "access-control-allow-origin"), None, "no page reads it");
    foreign.ok();
    let operator = house.operate_with("GET", MESSAGES, &[("origin", FOREIGN)], None).await;
    assert_eq!(allowed(&operator.headers, "access-control-allow-origin"), None);
    operator.ok();
}

#[tokio::test]
async fn where_a_community_names_no_pages_the_servers_own_rule_holds() {
    let house = furnished().await;
    let messages = MESSAGES.replace("acme", "open");
    for (is_let_in, status) in [(true, 200), (false, 403)] {
        let headers = [("origin", FOREIGN), ("authorization", &format!("Bearer {}", token("open", "ann")))];
        let asked = house.ask_of_page(is_let_in, "GET", &messages, &headers).await;
        assert_eq!(asked.status.as_u16(), status, "{}", asked.text);
        let told = allowed(&asked.headers, "access-control-allow-origin");
        assert_eq!(told, is_let_in.then_some(FOREIGN));
        let asks = [("origin", FOREIGN), ("access-control-request-method", "GET")];
        let asked = house.ask_of_page(is_let_in, "OPTIONS", &messages, &asks).await;
        assert_eq!(asked.status.as_u16(), if is_let_in { 204 } else { 403 });
        // For a community that does not exist, the answer does not reveal that.
        let elsewhere = [("origin", FOREIGN)];
        for community in ["open", "nowhere"] {
            let guests = format!("/api/v1/communities/{community}/guests");
            let refused = house.ask_of_page(is_let_in, "POST", &guests, &elsewhere).await;
            assert_eq!(refused.code() == "origin_refused", !is_let_in, "{community}: {}", refused.text);
        }
        let nowhere =
            house.ask_of_page(is_let_in, "OPTIONS", &MESSAGES.replace("acme", "nowhere"), &asks).await;
        assert_eq!(nowhere.status, asked.status);
    }
}

#[tokio::test]
async fn who_asks_from_refused_pages_again_and_again_has_to_wait() {
    let house = furnished().await;
    let asks = [("origin", FOREIGN), ("access-control-request-method", "GET")];
    let mut codes = Vec::new();
    for _ in 0..5 {
        codes.push(house.ask_from("203.0.113.7", "OPTIONS", MESSAGES, &asks, None).await.code());
    }
    assert_eq!(codes[0], "origin_refused");
    assert_eq!(codes[4], "rate_limited");
}

#[tokio::test]
async fn what_asks_nothing_by_options_is_told_which_methods_there_are() {
    let house = furnished().await;
    let asked = house.ask_with("OPTIONS", MESSAGES, &[("origin", OWN)], None).await;
    assert_eq!((asked.status.as_u16(), asked.code().as_str()), (405, "method_not_allowed"));
    assert_eq!(allowed(&asked.headers, "allow"), Some("GET, POST"));
}
