//! Samples as bytes, and how RustDDS carries them.

use super::matches::{Prefix, prefix};
use crate::backend::Encoding;
use bytes::Bytes;
use rustdds::{RepresentationIdentifier, SampleIdentity, no_key};
use std::sync::Arc;

/// One sample as it travels.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) payload: Bytes,
    pub(crate) encoding: Encoding,
    /// Writer and sequence number.
    pub(super) identity: SampleIdentity,
    /// The request this sample answers (enhanced mapping).
    pub(super) related: Option<SampleIdentity>,
}

impl Sample {
    /// Who sent it, when it is an answer of a service.
    pub(crate) fn server(&self) -> Prefix {
        prefix(self.identity.writer_guid)
    }

    /// Writer and number among its samples.
    pub(crate) fn origin(&self) -> Option<([u8; 16], i64)> {
        Some((self.identity.writer_guid.to_bytes(), i64::from(self.identity.sequence_number)))
    }
}

/// Takes samples as they arrive; called on the pump's thread, so it must be quick.
pub(crate) type Sink = Arc<dyn Fn(Sample) + Send + Sync>;

/// Payload and its encoding, as RustDDS hands them over.
pub(super) struct Raw {
    pub(super) payload: Bytes,
    pub(super) encoding: Encoding,
}

/// Lets RustDDS carry bytes untouched.
pub(super) struct RawAdapter;

/// Never happens: bytes need no coding.
#[derive(Debug, thiserror::Error)]
pub(super) enum Never {}

impl no_key::SerializerAdapter<Bytes> for RawAdapter {
    type Error = Never;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(value: &Bytes) -> Result<Bytes, Never> {
        Ok(value.clone())
    }
}

impl no_key::DeserializerAdapter<Raw> for RawAdapter {
    type Error = Never;
    type Decoded = Raw;

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE, RepresentationIdentifier::CDR_BE]
    }

    fn transform_decoded(decoded: Raw) -> Raw {
        decoded
    }
}

impl no_key::DefaultDecoder<Raw> for RawAdapter {
    type Decoder = RawDecoder;
    const DECODER: RawDecoder = RawDecoder;
}

/// Copies the bytes out of the cache of RustDDS.
#[derive(Clone)]
pub(super) struct RawDecoder;

impl no_key::Decode<'_, Raw> for RawDecoder {
    type Error = Never;

    fn decode_bytes(self, input_bytes: &[u8], encoding: RepresentationIdentifier) -> Result<Raw, Never> {
        let encoding = match encoding {
            RepresentationIdentifier::CDR_BE => Encoding::Big,
            // No other is asked for, see `supported_encodings`.
            _ => Encoding::Little,
        };
        Ok(Raw { payload: Bytes::copy_from_slice(input_bytes), encoding })
    }
}
