//! TLS certificates from PEM files, replaced while listeners run. A bad pair never replaces a good one.

mod validity;

pub(crate) use validity::Validity;

use crate::config::TlsConfig;
use crate::file_watch::FileWatch;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Why a certificate cannot be used.
#[derive(Debug)]
pub(crate) enum CertificateError {
    /// A file cannot be read, or is not PEM.
    Unreadable { path: PathBuf, error: pem::Error },
    /// The certificate file contains no certificate.
    Empty { path: PathBuf },
    /// The key's type is not supported, or it belongs to another certificate.
    Unusable { certificate: PathBuf, key: PathBuf, error: rustls::Error },
    /// No protocol version is enabled; only a broken build has none.
    Protocol(rustls::Error),
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateError::Unreadable { path, error: pem::Error::Io(error) } => {
                write!(f, "{}: {error}", path.display())
            }
            CertificateError::Unreadable { path, error: pem::Error::NoItemsFound } => {
                write!(f, "{}: the file contains no private key", path.display())
            }
            CertificateError::Unreadable { path, .. } => {
                write!(f, "{}: not a valid PEM file", path.display())
            }
            CertificateError::Empty { path } => {
                write!(f, "{}: the file contains no certificate", path.display())
            }
            CertificateError::Unusable { certificate, key, error } => {
                write!(f, "{} and {} do not match: {error}", certificate.display(), key.display())
            }
            CertificateError::Protocol(error) => write!(f, "TLS cannot be configured: {error}"),
        }
    }
}

impl std::error::Error for CertificateError {}

/// The certificate in use, and the files it comes from.
pub(crate) struct Certificates {
    certificate: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    resolver: Arc<Resolver>,
    watch: FileWatch,
}

impl Certificates {
    /// Reads the pair of files for the first time.
    pub(crate) fn load(config: &TlsConfig) -> Result<Certificates, CertificateError> {
        // Started before the files are read, so that a change in between is noticed later.
        let watch = FileWatch::new(&[&config.certificate, &config.key]);
        let provider = Arc::new(ring::default_provider());
        let current = read_pair(&config.certificate, &config.key, &provider)?;
        let resolver = Arc::new(Resolver { current: RwLock::new(Arc::new(current)) });
        let (certificate, key) = (config.certificate.clone(), config.key.clone());
        Ok(Certificates { certificate, key, provider, resolver, watch })
    }

    /// Returns the configuration for listeners. Reloads take effect through the resolver.
    pub(crate) fn server_config(&self) -> Result<Arc<ServerConfig>, CertificateError> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(CertificateError::Protocol)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.resolver) as Arc<dyn ResolvesServerCert>);
        // WebSocket runs over HTTP/1.1 only.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Reads the files again. New handshakes use the new pair; if it is unusable, the old one stays in use.
    pub(crate) fn reload(&self) -> Result<(), CertificateError> {
        let fresh = Arc::new(read_pair(&self.certificate, &self.key, &self.provider)?);
        *self.resolver.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Returns the certificate's validity period; `None` if it cannot be determined.
    pub(crate) fn validity(&self) -> Option<Validity> {
        Validity::of(self.resolver.current().cert.first()?)
    }

    /// Returns whether the files changed since the last call and have to be reloaded.
    pub(crate) fn changed(&mut self) -> bool {
        self.watch.look()
    }
}

/// Returns the current certificate.
#[derive(Debug)]
struct Resolver {
    current: RwLock<Arc<CertifiedKey>>,
}

impl Resolver {
    fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

fn read_pair(
    certificate: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, CertificateError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error| CertificateError::Unreadable { path, error }
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(unreadable(certificate))?;
    if chain.is_empty() {
        return Err(CertificateError::Empty { path: certificate.to_owned() });
    }
    let private_key = PrivateKeyDer::from_pem_file(key).map_err(unreadable(key))?;
    // Also refuses a key that does not belong to the certificate.
    CertifiedKey::from_der(chain, private_key, provider).map_err(|error| CertificateError::Unusable {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Files {
        _folder: tempfile::TempDir,
        config: TlsConfig,
    }

    impl Files {
        fn new() -> Files {
            let folder = tempfile::tempdir().expect("a folder");
            let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
            let listen = "127.0.0.1:0".parse().expect("an address");
            Files {
                _folder: folder,
                config: TlsConfig {
                    listen,
                    proxy_protocol: crate::config::ProxyProtocol::Off,
                    certificate,
                    key,
                },
            }
        }

        /// Writes a fresh self-signed pair; returns the certificate.
        fn write_pair(&self) -> CertificateDer<'static> {
            let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
            fs::write(&self.config.certificate, pair.cert.pem()).expect("written");
            fs::write(&self.config.key, pair.signing_key.serialize_pem()).expect("written");
            pair.cert.der().clone()
        }
    }

    fn served(certificates: &Certificates) -> CertificateDer<'static> {
        certificates.resolver.current().cert[0].clone()
    }

    #[test]
    fn a_reload_serves_the_new_certificate() {
        let files = Files::new();
        let first = files.write_pair();
        let certificates = Certificates::load(&files.config).expect("loaded");
        certificates.server_config().expect("a configuration");
        assert_eq!(served(&certificates), first);

        let second = files.write_pair();
        certificates.reload().expect("reloaded");
        assert_eq!(served(&certificates), second);
    }

    #[test]
    fn a_bad_pair_is_refused_and_the_old_one_stays() {
        type Spoil = fn(&TlsConfig);
        let table: [(Spoil, &str); 5] = [
            (
                |config| fs::write(&config.certificate, "").expect("written"),
                "cert.pem: the file contains no certificate",
            ),
            (
                |config| fs::write(&config.certificate, "-----BEGIN CERTIFICATE-----\nAA").expect("written"),
                "cert.pem: not a valid PEM file",
            ),
            (
                |config| fs::write(&config.key, "no key").expect("written"),
                "key.pem: the file contains no private key",
            ),
            (|config| fs::remove_file(&config.key).expect("removed"), "key.pem: No such file"),
            (
                |config| {
                    let other =
                        rcgen::generate_simple_self_signed(["other".to_owned()]).expect("a certificate");
                    fs::write(&config.key, other.signing_key.serialize_pem()).expect("written");
                },
                "do not match",
            ),
        ];
        for (spoil, message) in table {
            let files = Files::new();
            let good = files.write_pair();
            let certificates = Certificates::load(&files.config).expect("loaded");
            spoil(&files.config);
            let error = certificates.reload().expect_err("a bad pair").to_string();
            assert!(error.contains(message), "{error}");
            assert_eq!(served(&certificates), good);
        }
    }

    #[test]
    fn a_first_pair_must_be_good() {
        let files = Files::new();
        assert!(matches!(Certificates::load(&files.config), Err(CertificateError::Unreadable { .. })));
    }
}
