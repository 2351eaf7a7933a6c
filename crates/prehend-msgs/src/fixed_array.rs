//! How a fixed array (`float64[9]`) goes on the wire: its elements and no length.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeTuple, Serializer};

/// For `#[serde(with = "Fixed::<N>")]` on a `Vec` that stands for an array of `N` elements.
pub(crate) struct Fixed<const N: usize>;

impl<const N: usize> Fixed<N> {
    /// Writes the elements.
    ///
    /// # Errors
    /// A serializer error that names both lengths when there are not `N` elements.
    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        elements: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if elements.len() != N {
            return Err(S::Error::custom(format_args!(
                "a fixed array of {N} elements has {}",
                elements.len()
            )));
        }
        let mut tuple = serializer.serialize_tuple(N)?;
        for element in elements {
            tuple.serialize_element(element)?;
        }
        tuple.end()
    }

    /// Reads `N` elements.
    ///
    /// # Errors
    /// A deserializer error when the data ends before the `N`th.
    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_tuple(N, Elements::<T, N>(PhantomData))
    }
}

struct Elements<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Elements<T, N> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a fixed array of {N} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::with_capacity(N);
        while elements.len() < N {
            match seq.next_element()? {
                Some(element) => elements.push(element),
                None => return Err(A::Error::invalid_length(elements.len(), &self)),
            }
        }
        Ok(elements)
    }
}
