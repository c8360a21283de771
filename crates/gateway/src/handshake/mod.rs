//! From a request head to a socket or a refusal: the checks in Phoenix's order, for the shards and the control plane.

mod checks;
mod head;
mod proxy_header;
#[cfg(test)]
#[path = "../../tests/properties/proxy_header.rs"]
mod proxy_property;
mod response;

pub(crate) use checks::{Accepted, Decision, Handshakes, Protocol, Rejection};
pub(crate) use head::Head;
pub(crate) use proxy_header::PROXY_HEADER_BYTES_MAX;
pub(crate) use proxy_header::{BadProxyHeader, ProxyHeader, parse_proxy_header, proxy_header_bytes};
pub(crate) use response::{RETRY_AFTER_SECONDS, refusal, switching_protocols};

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_first_bytes_of_the_corpus_hold_the_property() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/proxy_header");
        let mut count = 0;
        for input in fs::read_dir(&folder).expect("the corpus is there") {
            let path = input.expect("a directory entry").path();
            // On failure the captured output ends with the input's name.
            eprintln!("{}", path.display());
            super::proxy_property::reading_does_not_depend_on_cuts(
                &fs::read(&path).expect("a readable input"),
            );
            count += 1;
        }
        assert!(count > 0, "the corpus is empty");
    }
}
