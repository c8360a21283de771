//! An authority of the test's own, and what it vouches for.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

/// An authority that nobody knows but the test.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// A fresh one.
    #[must_use]
    pub fn new() -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).expect("no names are fine");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("chance");
        Self { issuer: CertifiedIssuer::self_signed(parameters, key).expect("a certificate") }
    }

    /// Its certificate, to be trusted.
    #[must_use]
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A server of `localhost` and 127.0.0.1 that it vouches for.
    #[must_use]
    pub fn server(&self) -> Arc<ServerConfig> {
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let parameters = CertificateParams::new(names).expect("names and addresses");
        let key = KeyPair::generate().expect("chance");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder().with_no_client_auth();
        let config = config.with_single_cert(vec![certificate.der().clone()], key);
        Arc::new(config.expect("they belong together"))
    }
}
