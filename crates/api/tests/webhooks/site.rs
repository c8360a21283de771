//! A host site that is sent webhooks.

use super::GENEROUS;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use tokio::sync::{mpsc, watch};

/// A host site: what it received, and the status that it answers with while it is open.
pub(super) struct Site {
    pub(super) told: mpsc::UnboundedReceiver<(HeaderMap, Bytes)>,
    pub(super) status: Arc<AtomicU16>,
    pub(super) open: watch::Sender<bool>,
    pub(super) url: String,
}

type Answering = (mpsc::UnboundedSender<(HeaderMap, Bytes)>, Arc<AtomicU16>, watch::Receiver<bool>);

impl Site {
    pub(super) async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let (sender, told) = mpsc::unbounded_channel();
        let status = Arc::new(AtomicU16::new(204));
        let (open, is_open) = watch::channel(true);
        let state = (sender, status.clone(), is_open);
        let routes = Router::new().route("/hook", post(receive)).with_state(state);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { told, status, open, url }
    }

    pub(super) async fn next(&mut self) -> (HeaderMap, Bytes) {
        tokio::time::timeout(GENEROUS, self.told.recv()).await.expect("in time").expect("the site is open")
    }
}

async fn receive(State(answering): State<Answering>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let (told, status, mut is_open) = answering;
    told.send((headers, body)).expect("the test listens");
    is_open.wait_for(|open| *open).await.expect("the test goes on");
    StatusCode::from_u16(status.load(Ordering::Relaxed)).expect("a status")
}

/// Returns the id and the text of what arrives next.
pub(super) async fn heard(site: &mut Site) -> (String, String) {
    let (headers, body) = site.next().await;
    let told: Value = serde_json::from_slice(&body).expect("JSON");
    let text = told["data"]["text"].as_str().expect("a text").to_owned();
    (headers["webhook-id"].to_str().expect("text").to_owned(), text)
}
