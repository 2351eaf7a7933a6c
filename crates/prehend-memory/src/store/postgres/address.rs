//! The address of a server: `postgres://user:password@host:port/database?sslmode=require`.

use super::super::StoreError;
use percent_encoding::percent_decode_str;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// An idle connection whose other end is gone is noticed after about this.
const IDLE: Duration = Duration::from_secs(20);

/// Where a server is and how it is spoken to.
#[derive(Clone)]
pub(super) struct Address {
    /// For messages: without the password.
    pub(super) name: String,
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
}

/// What is asked of the server's certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// What `sslrootcert` gives: an authority, if there is one.
    Given,
    /// An authority.
    Authority,
    /// An authority and the name of the host.
    Name,
}

impl Address {
    /// Reads an address.
    ///
    /// Errors: [`StoreError::Unreachable`], which never shows the password.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let refuse = |what: String| StoreError::Unreachable { store: "of that address".to_owned(), what };
        if !["postgres://", "postgresql://"].iter().any(|start| url.starts_with(start)) {
            return Err(refuse("it shall be `postgres://user:password@host:port/database`".to_owned()));
        }
        // A password may hold a `?`: as the crate does, what is before the first `@` is a name and a password.
        let login = url.find('@').unwrap_or(0);
        let end = url[login..].find('?').map_or(url.len(), |place| login + place);
        let (place, query) = (&url[..end], url.get(end + 1..).unwrap_or_default());
        let (mut mode, mut trust, mut authorities) = (SslMode::Prefer, Trust::Given, None);
        let mut rest: Vec<&str> = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            match key {
                "sslmode" => {
                    (mode, trust) = match value {
                        "disable" => (SslMode::Disable, Trust::Given),
                        "prefer" => (SslMode::Prefer, Trust::Given),
                        "require" => (SslMode::Require, Trust::Given),
                        "verify-ca" => (SslMode::Require, Trust::Authority),
                        "verify-full" => (SslMode::Require, Trust::Name),
                        _ => {
                            let known = "disable, prefer, require, verify-ca or verify-full";
                            return Err(refuse(format!("sslmode is {known}")));
                        }
                    }
                }
                "sslrootcert" => {
                    authorities = Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
                }
                _ => rest.push(option),
            }
        }
        let parsed = format!("{place}?{}", rest.join("&")).parse();
        let mut config: Config = parsed.map_err(|error| refuse(super::error::words(&error)))?;
        let is_odd = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
        if config.get_hosts().iter().any(is_odd) {
            return Err(refuse("a letter `@` in a name or a password is written `%40`".to_owned()));
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(refuse("it names no host".to_owned()));
        }
        if trust != Trust::Given && authorities.is_none() {
            return Err(refuse(
                "that sslmode needs `sslrootcert`, a file of trusted certificates".to_owned(),
            ));
        }
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        if !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_socket) {
            mode = SslMode::Disable; // A socket needs none, whatever is asked for.
        }
        if config.get_application_name().is_none() {
            config.application_name("prehend");
        }
        config.ssl_mode(mode).keepalives_idle(IDLE).keepalives_interval(IDLE / 4).keepalives_retries(3);
        let authorities = authorities.as_deref().map(Path::new);
        let tls = tls(authorities, trust == Trust::Name).map_err(refuse)?;
        Ok(Self { name: name(&config), config, tls })
    }
}

/// The address without the password and the options.
fn name(config: &Config) -> String {
    let ports = config.get_ports();
    let host = |(index, host): (usize, &Host)| {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(path) => path.display().to_string(),
        }
    };
    let mut hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    let user = config.get_user().map_or_else(String::new, |user| format!("{user}@"));
    format!("postgres://{user}{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

/// TLS that trusts what is asked for.
fn tls(authorities: Option<&Path>, is_named: bool) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let authorities = authorities.map(Authorities::read).transpose()?;
    let check = Check { authorities, is_named, provider: Arc::clone(&provider) };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(check))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The certificates of `sslrootcert`.
#[derive(Debug)]
struct Authorities {
    roots: RootCertStore,
    /// The same; a server's own certificate may be one of them.
    own: Vec<CertificateDer<'static>>,
}

impl Authorities {
    fn read(path: &Path) -> Result<Self, String> {
        let wrong = |what: String| format!("the certificates of sslrootcert, {}: {what}", path.display());
        let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let own: Vec<CertificateDer<'static>> = read.map_err(|error| wrong(error.to_string()))?;
        let mut roots = RootCertStore::empty();
        let (good, _) = roots.add_parsable_certificates(own.iter().cloned());
        if good == 0 {
            return Err(wrong("there is none that can be read".to_owned()));
        }
        Ok(Self { roots, own })
    }
}

/// What libpq asks of a server's certificate: nothing without an authority; that it comes from one; its name as well.
#[derive(Debug)]
struct Check {
    authorities: Option<Authorities>,
    is_named: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Check {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(Authorities { roots, own }) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        let parsed = ParsedCertificate::try_from(certificate)?;
        if !own.contains(certificate) {
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&parsed, roots, between, now, algorithms)?;
        }
        if self.is_named {
            verify_server_name(&parsed, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        match Address::parse(url) {
            Ok(address) => panic!("{}", address.name),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_name_has_no_password() {
        for (url, name) in [
            (
                "postgres://ann:se:cret@db.lan:5433/memory?sslmode=disable",
                "postgres://ann@db.lan:5433/memory",
            ),
            ("postgresql://ann:@/memory?host=/run/pg&connect_timeout=3", "postgres://ann@/run/pg/memory"),
            ("postgres:///memory?host=/tmp/x&user=ann&password=secret", "postgres://ann@/tmp/x/memory"),
            ("postgres://ann:secret@a,b:1/memory", "postgres://ann@a:5432,b:1/memory"),
            ("postgres://ann:sec?ret@db/memory?sslmode=require", "postgres://ann@db:5432/memory"),
        ] {
            let address = Address::parse(url).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(address.name, name);
        }
        for url in [
            "host=db user=ann password=secret",
            "postgres://ann:secret@/memory",
            "postgres://ann:p@secret@db/memory",
            "postgres://ann:secret",
            "postgres://ann:secret@db/memory?sslmode=secret",
            "postgres://ann:secret@db:secret/memory",
        ] {
            let said = refused(url);
            assert!(!said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn sslmode_is_read_as_libpq_reads_it() {
        let mode = |rest: &str| {
            let address = Address::parse(&format!("postgres://ann@{rest}"));
            address.unwrap_or_else(|error| panic!("{error}")).config.get_ssl_mode()
        };
        assert_eq!(mode("db/memory"), SslMode::Prefer);
        assert_eq!(mode("db/memory?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("db/memory?application_name=arm&sslmode=require"), SslMode::Require);
        assert_eq!(mode("db/memory?sslmode=require&"), SslMode::Require);
        assert_eq!(mode("/memory?host=/tmp/x&sslmode=require"), SslMode::Disable, "a socket needs none");
        assert!(refused("postgres://ann@db/memory?sslmode=verify-full").contains("sslrootcert"));
        let said = refused("postgres://ann@db/memory?sslrootcert=/no/such%20file");
        assert!(said.contains("/no/such file"), "{said}");
        assert!(refused("postgres://ann@db/memory?sslmode=maybe").contains("verify-full"));
    }
}
