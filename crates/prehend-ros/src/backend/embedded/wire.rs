//! Samples as bytes, and what turns them into messages.

use crate::RosError;
use rustdds::bytes::Bytes;
use rustdds::serialization::{deserialize_from_cdr_with_rep_id, to_writer_with_rep_id};
use rustdds::{RepresentationIdentifier, SampleIdentity, no_key};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One sample as it travels.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) payload: Bytes,
    pub(crate) encoding: RepresentationIdentifier,
    /// Writer and sequence number.
    pub(crate) identity: SampleIdentity,
    /// The request this sample answers (enhanced mapping).
    pub(crate) related: Option<SampleIdentity>,
}

/// Takes samples as they arrive; called on the pump's thread, so it must be quick.
pub(crate) type Sink = Arc<dyn Fn(Sample) + Send + Sync>;

/// CDR bytes of `message`; `hint` carries the size of the last one to the next.
pub(crate) fn encode<T: Serialize>(message: &T, hint: &AtomicUsize) -> Result<Bytes, RosError> {
    let mut buffer = Vec::with_capacity(hint.load(Ordering::Relaxed).max(64));
    to_writer_with_rep_id(&mut buffer, message, RepresentationIdentifier::CDR_LE).map_err(|error| {
        RosError::Encode { type_name: std::any::type_name::<T>(), reason: error.to_string() }
    })?;
    hint.store(buffer.len(), Ordering::Relaxed);
    Ok(Bytes::from(buffer))
}

/// The message in CDR bytes.
pub(crate) fn decode<T: DeserializeOwned>(
    payload: &[u8],
    encoding: RepresentationIdentifier,
) -> Result<T, RosError> {
    match deserialize_from_cdr_with_rep_id::<T>(payload, encoding) {
        Ok((message, _)) => Ok(message),
        Err(error) => {
            Err(RosError::Decode { type_name: std::any::type_name::<T>(), reason: error.to_string() })
        }
    }
}

/// Payload and its encoding, as RustDDS hands them over.
pub(super) struct Raw {
    pub(super) payload: Bytes,
    pub(super) encoding: RepresentationIdentifier,
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
        Ok(Raw { payload: Bytes::copy_from_slice(input_bytes), encoding })
    }
}
