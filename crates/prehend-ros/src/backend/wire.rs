//! Messages as CDR bytes, and back.

use crate::RosError;
use byteorder::{BigEndian, LittleEndian};
use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Order of the bytes of a number. What is sent is little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Big,
    Little,
}

impl Encoding {
    /// The four bytes before every stored or serialized message.
    pub(crate) const LITTLE_HEADER: [u8; 4] = [0, 1, 0, 0];

    /// What the bytes before a stored or serialized message say; `None` for anything but plain CDR.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0, 0, _, _, ..] => Some(Self::Big),
            [0, 1, _, _, ..] => Some(Self::Little),
            _ => None,
        }
    }
}

/// CDR bytes of `message`; `hint` carries the size of the last one to the next.
pub(crate) fn encode<T: Serialize>(message: &T, hint: &AtomicUsize) -> Result<Bytes, RosError> {
    let mut buffer = Vec::with_capacity(hint.load(Ordering::Relaxed).max(64));
    cdr_encoding::to_writer::<T, LittleEndian, _>(&mut buffer, message).map_err(|error| {
        RosError::Encode { type_name: std::any::type_name::<T>(), reason: error.to_string() }
    })?;
    hint.store(buffer.len(), Ordering::Relaxed);
    Ok(Bytes::from(buffer))
}

/// The message in CDR bytes.
pub(crate) fn decode<T: DeserializeOwned>(payload: &[u8], encoding: Encoding) -> Result<T, RosError> {
    let decoded = match encoding {
        Encoding::Big => cdr_encoding::from_bytes::<T, BigEndian>(payload),
        Encoding::Little => cdr_encoding::from_bytes::<T, LittleEndian>(payload),
    };
    match decoded {
        Ok((message, _)) => Ok(message),
        Err(error) => {
            Err(RosError::Decode { type_name: std::any::type_name::<T>(), reason: error.to_string() })
        }
    }
}
