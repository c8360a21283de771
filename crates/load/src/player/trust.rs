//! Which certificates users accept from targets that use TLS.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::error::PlayError;
use crate::scenario::plan::TlsTrust;

/// Returns the TLS configuration shared by all connections of a run. Sessions are not resumed: each user is a new
/// client with a full handshake.
pub(crate) fn client_config(trust: &TlsTrust) -> Result<Arc<ClientConfig>, PlayError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(PlayError::Tls)?;
    let mut config = if trust.insecure {
        let verifier = Arc::new(TrustEverybody { provider });
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    } else {
        builder.with_root_certificates(roots(trust)?).with_no_client_auth()
    };
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Returns the machine's certificate authorities and those from the scenario's file.
fn roots(trust: &TlsTrust) -> Result<RootCertStore, PlayError> {
    let mut roots = RootCertStore::empty();
    // Unreadable system certificates are skipped: the handshake reports a certificate that is not trusted.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let Some(path) = &trust.authorities else { return Ok(roots) };
    let failed = |text: String| PlayError::Authorities { path: path.clone(), text };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?;
    let mut count = 0;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
        count += 1;
    }
    if count == 0 {
        return Err(failed("it contains no certificate".to_owned()));
    }
    Ok(roots)
}

/// Accepts any certificate, as the scenario asks for; signatures are still verified.
#[derive(Debug)]
struct TrustEverybody {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for TrustEverybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
