//! TLS to the server, with its certificate and name verified.

use chat::{StoreError, StoreErrorKind};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_tokio_postgres::MakeRustlsConnect;
use std::path::Path;
use std::sync::Arc;

/// Authenticates the server by the certificates in a PEM file, or by the system's.
///
/// # Errors
/// There are no usable certificates.
pub(super) fn connector(authority: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let away = |detail: String| StoreError::new(StoreErrorKind::Away, detail);
    let roots = match authority {
        Some(path) => of_file(path).map_err(away)?,
        None => of_system().map_err(away)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| away(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn of_file(path: &Path) -> Result<RootCertStore, String> {
    let unusable = |why: String| format!("{} contains no valid PEM certificates: {why}", path.display());
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("the file has no certificate".to_owned()));
    }
    Ok(roots)
}

fn of_system() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    match usable {
        0 => Err("this system has no trusted certificates: install ca-certificates".to_owned()),
        _ => Ok(roots),
    }
}
