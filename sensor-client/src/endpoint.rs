//! Where agents listen.

use std::{fmt, str::FromStr};

use tonic::transport::Uri;

/// Where an agent listens unless it was told otherwise.
pub const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:50061";

/// Addresses of agents, at least one, in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints(Vec<Uri>);

/// Text that names no agent's address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{endpoint}` is no agent address: {problem}; write http://HOST:PORT, such as {DEFAULT_ENDPOINT}")]
pub struct EndpointsError {
    endpoint: String,
    problem: &'static str,
}

impl Endpoints {
    /// Addresses from texts `http://host:port` or `host:port`.
    pub fn parse<T: AsRef<str>>(endpoints: impl IntoIterator<Item = T>) -> Result<Self, EndpointsError> {
        let uris = endpoints
            .into_iter()
            .map(|endpoint| parse_one(endpoint.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        if uris.is_empty() {
            return Err(EndpointsError { endpoint: String::new(), problem: "it is empty" });
        }
        Ok(Self(uris))
    }

    pub(crate) fn uris(&self) -> &[Uri] {
        &self.0
    }
}

impl FromStr for Endpoints {
    type Err = EndpointsError;

    /// Reads addresses separated by commas.
    fn from_str(text: &str) -> Result<Self, EndpointsError> {
        Self::parse(text.split(','))
    }
}

impl fmt::Display for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, uri) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{}", text_of(uri))?;
        }
        Ok(())
    }
}

/// The address as a person writes it, without the path that a parsed one ends with.
pub(crate) fn text_of(uri: &Uri) -> String {
    uri.to_string().trim_end_matches('/').to_owned()
}

fn parse_one(text: &str) -> Result<Uri, EndpointsError> {
    let text = text.trim();
    let fail = |problem| EndpointsError { endpoint: text.to_owned(), problem };
    if text.is_empty() {
        return Err(fail("it is empty"));
    }
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let uri: Uri = with_scheme.parse().map_err(|_| fail("it does not read as an address"))?;
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") => return Err(fail("this version connects without TLS only")),
        _ => return Err(fail("its scheme is not http")),
    }
    let authority = uri.authority().ok_or_else(|| fail("it does not read as an address"))?;
    if authority.as_str().contains('@') {
        return Err(fail("a user name has no place in it"));
    }
    if authority.host().is_empty() {
        return Err(fail("it names no host"));
    }
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(fail("a path has no place in it"));
    }
    match authority.port_u16() {
        None | Some(0) => Err(fail("it has no port from 1 to 65535")),
        Some(_) => Ok(uri),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse::<Endpoints>().map(|e| e.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn reads_addresses_with_and_without_scheme() {
        assert_eq!(
            read("localhost:1, http://[::1]:50061/,10.0.0.1:65535"),
            Ok("http://localhost:1,http://[::1]:50061,http://10.0.0.1:65535".into())
        );
    }

    #[test]
    fn names_the_address_that_is_wrong() {
        for (text, problem) in [
            ("", "it is empty"),
            ("a:1,,b:2", "it is empty"),
            ("localhost", "no port"),
            ("localhost:0", "no port"),
            ("localhost:70000", "no port from 1"),
            ("localhost:port", "no port"),
            ("https://agent:50061", "without TLS"),
            ("ftp://agent:50061", "scheme is not http"),
            ("http://agent:50061/x", "a path has no place"),
            ("http://me@agent:50061", "user name"),
            ("http://:50061", "it names no host"),
            ("a b:1", "does not read"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(problem), "{text}: {error}");
            assert!(error.contains("write http://HOST:PORT"), "{error}");
        }
        let error = read("ok:1,http://bad").expect_err("no port");
        assert!(error.starts_with("`http://bad` is no agent address"), "{error}");
    }
}
