//! Tokens of those who may drive the robot over HTTP.

use rand::RngExt;

/// The token of the environment, when one is named.
pub fn named(name: Option<&str>) -> Result<Option<String>, String> {
    let Some(name) = name else { return Ok(None) };
    let token =
        std::env::var(name).ok().map(|token| token.trim().to_owned()).filter(|token| token.len() >= 16);
    token.map(Some).ok_or_else(|| format!("--token-env: {name} must hold a token of at least 16 characters"))
}

/// A token that nobody guesses.
pub fn made() -> String {
    let bytes: [u8; 24] = rand::rng().random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two texts are the same, without telling by its time how far.
pub fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let differs = given.iter().zip(expected).fold(0, |differs, (a, b)| differs | (a ^ b));
    given.len() == expected.len() && differs == 0
}
