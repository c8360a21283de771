//! A certificate made for one test, and a client that trusts it alone.

use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig};
use std::sync::Arc;

const NAME: &str = "localhost";

/// What a client trusts.
#[derive(Clone, Debug)]
pub struct Trust {
    config: Arc<ClientConfig>,
}

/// A server's side with a fresh certificate, and the certificate (DER) to trust.
#[must_use]
pub fn self_signed() -> (Arc<ServerConfig>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("a name makes a certificate");
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let certificate = made.cert.der().clone();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.clone()], key).expect("they belong together");
    (Arc::new(config), certificate.to_vec())
}

impl Trust {
    /// Trusts this certificate (DER).
    #[must_use]
    pub fn certificate(der: Vec<u8>) -> Trust {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(der)).expect("a certificate");
        Trust {
            config: Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()),
        }
    }

    pub(crate) fn client(&self) -> ClientConnection {
        let name = ServerName::try_from(NAME).expect("a name");
        ClientConnection::new(self.config.clone(), name).expect("a configuration that can begin")
    }
}
