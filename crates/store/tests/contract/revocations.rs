//! Revoked tokens.

use crate::Case;
use crate::scene::{Scene, person};
use chat::verbs::{Expire, Revocations, Revoke};
use chat::*;

fn revoke(scene: &Scene, who: &str, token: Option<&str>, lasts_ms: u64) -> Revocation {
    let until_s = scene.now().millis() / 1_000;
    let ends = scene.now().after_ms(lasts_ms);
    let revoke = Revoke { person: person(who), token: token.map(str::to_owned), until_s, ends };
    scene.service(revoke).expect("a key may")
}

fn page(scene: &Scene, after: Option<(PersonId, String)>, limit: usize) -> Vec<(String, String)> {
    let listed = scene.service(Revocations { after, limit }).expect("a key may");
    listed.rows.iter().map(|row| (row.person.to_string(), row.token_or_all().to_owned())).collect()
}

fn pair(who: &str, token: &str) -> (String, String) {
    (who.to_owned(), token.to_owned())
}

pub(crate) const CASES: &[Case] = &[
    ("revocations are listed page by page, of one community alone", |scene| {
        scene.people(&["ann", "bob"]);
        revoke(scene, "bob", None, 60_000);
        revoke(scene, "ann", Some("b"), 60_000);
        let kept = revoke(scene, "ann", Some("a"), 60_000);
        let all = [pair("ann", "a"), pair("ann", "b"), pair("bob", "")];
        assert_eq!(page(scene, None, 9), all);
        assert_eq!(page(scene, None, 2), all[..2]);
        assert_eq!(page(scene, Some((person("ann"), "b".to_owned())), 2), all[2..]);
        let listed = scene.service(Revocations { after: None, limit: 1 }).expect("a key may");
        assert_eq!((listed.rows, listed.next), (vec![kept], Some((person("ann"), "a".to_owned()))));
        assert_eq!(page(&scene.beside(), None, 9), []);
    }),
    ("a later revocation of all stands in place of the earlier one", |scene| {
        revoke(scene, "ann", None, 1_000);
        scene.wait_ms(500_000);
        let later = revoke(scene, "ann", None, 900_000);
        let listed = scene.service(Revocations { after: None, limit: 9 }).expect("a key may");
        assert_eq!(listed.rows, [later]);
    }),
    ("what has ended makes room, with the next one or with retention", |scene| {
        revoke(scene, "ann", Some("a"), 1_000);
        scene.wait_ms(1_000);
        revoke(scene, "ann", Some("b"), 1_000);
        assert_eq!(page(scene, None, 9), [pair("ann", "b")]);
        scene.wait_ms(1_000);
        scene.service(Expire).expect("a key may");
        assert_eq!(page(scene, None, 9), []);
    }),
    ("at the limit, a revocation still takes the place of its predecessor", |scene| {
        const STEP: usize = limits::PAGE_MAX;
        let now = scene.now();
        let ends = now.after_ms(1_000_000);
        let row = |nth: usize| {
            let (person, token) = (person(&format!("p{nth}")), nth.is_multiple_of(2).then(|| "a".to_owned()));
            Revocation { person, token, until_s: 1, at: now, ends }
        };
        for begin in (0..limits::REVOCATIONS_MAX).step_by(STEP) {
            let rows = begin..(begin + STEP).min(limits::REVOCATIONS_MAX);
            let records = rows.map(|nth| row(nth).into()).collect();
            scene.service(chat::verbs::Import { records }).expect("a key may");
        }
        let max = limits::REVOCATIONS_MAX as u64;
        let full = Failure::Refused(Refusal::LimitReached { limit: "revocations_max", max });
        let one = |who: &str, token: Option<&str>| {
            let token = token.map(str::to_owned);
            scene
                .service(Revoke { person: person(who), token, until_s: 2, ends })
                .map(|revoked| revoked.until_s)
        };
        assert_eq!(one("somebody", None), Err(full.clone()));
        assert_eq!([one("p0", None), one("p0", Some("b"))], [Err(full.clone()), Err(full)]);
        assert_eq!([one("p0", Some("a")), one("p1", None)], [Ok(2), Ok(2)]);
    }),
    ("who is erased does not get their tokens back", |scene| {
        scene.people(&["ann"]);
        revoke(scene, "ann", None, 60_000);
        scene.erase(&By::Service, "ann");
        assert_eq!(page(scene, None, 9), [pair("ann", "")]);
    }),
    ("people revoke nothing and see nothing of it", |scene| {
        scene.people(&["ann"]);
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Administer)));
        let ends = scene.now().after_ms(1_000);
        let revoke = Revoke { person: person("ann"), token: None, until_s: 1, ends };
        assert_eq!(scene.ask("ann", revoke).map(drop), refused);
        assert_eq!(scene.ask("ann", Revocations { after: None, limit: 9 }).map(drop), refused);
    }),
];
