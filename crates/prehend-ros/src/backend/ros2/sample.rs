//! A value of any message with something in each of its fields.

use serde::de::value::{Error, SeqDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::iter;

/// The one byte of a structure without fields: nobody reads it.
const EMPTY_MEMBER: &str = "structure_needs_at_least_one_member";

/// Every number another one, every text and every sequence with one element. Read as the length of something, whatever is in it is short.
pub(super) fn sample<T: DeserializeOwned>() -> Result<T, Error> {
    T::deserialize(&mut Sampler { numbers: (1..=100).cycle() })
}

struct Sampler<N> {
    numbers: N,
}

impl<N: Iterator<Item = u8>> Sampler<N> {
    fn number(&mut self) -> u8 {
        self.numbers.next().unwrap_or(1)
    }
}

/// As many values as are left.
struct Elements<'a, N>(&'a mut Sampler<N>, usize);

impl<'de, N: Iterator<Item = u8>> SeqAccess<'de> for Elements<'_, N> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.1.checked_sub(1) else { return Ok(None) };
        self.1 = left;
        seed.deserialize(&mut *self.0).map(Some)
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident $type:ty,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(<$type>::from(self.number()))
        }
    )*};
}

impl<'de, N: Iterator<Item = u8>> Deserializer<'de> for &mut Sampler<N> {
    type Error = Error;

    numbers! {
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i8(self.number().cast_signed())
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f32(f32::from_bits(self.number().into()))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f64(f64::from_bits(self.number().into()))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(true)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str("text")
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bytes(&[self.number()])
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Elements(self, 1))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Elements(self, len))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match fields {
            [EMPTY_MEMBER] => visitor.visit_seq(SeqDeserializer::<_, Error>::new(iter::once(0_u8))),
            fields => visitor.visit_seq(Elements(self, fields.len())),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no ROS interface has such a field"))
    }

    forward_to_deserialize_any! {
        i128 u128 char option unit unit_struct newtype_struct tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image, JointState};
    use prehend_msgs::std_msgs::msg::Empty;

    #[test]
    fn there_is_something_in_every_field() {
        let state: JointState = sample().expect("a message");
        assert_eq!((state.name.as_slice(), state.effort.len()), (&["text".to_owned()][..], 1));
        assert_ne!(state.position, state.velocity);
        assert!(state.header.stamp.sec != 0 && state.header.frame_id == "text");
        let info: CameraInfo = sample().expect("a message");
        assert!(info.k.len() == 9 && info.k.iter().all(|number| *number != 0.0) && info.roi.do_rectify);
        let image: Image = sample().expect("a message");
        assert_eq!(image.data.len(), 1);
        assert_eq!(sample::<Empty>(), Ok(Empty::default()));
    }
}
