//! Values of parameters, as `rcl_interfaces` has them.

use prehend_msgs::rcl_interfaces::msg::{ParameterType, ParameterValue as Wire};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// None.
    NotSet,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Double(f64),
    /// A text.
    String(String),
    /// Bytes.
    ByteArray(Vec<u8>),
    /// Truth values.
    BoolArray(Vec<bool>),
    /// Whole numbers.
    IntegerArray(Vec<i64>),
    /// Numbers.
    DoubleArray(Vec<f64>),
    /// Texts.
    StringArray(Vec<String>),
}

impl ParameterValue {
    /// The number of its type on the wire.
    pub(crate) fn type_id(&self) -> u8 {
        match self {
            Self::NotSet => ParameterType::PARAMETER_NOT_SET,
            Self::Bool(_) => ParameterType::PARAMETER_BOOL,
            Self::Integer(_) => ParameterType::PARAMETER_INTEGER,
            Self::Double(_) => ParameterType::PARAMETER_DOUBLE,
            Self::String(_) => ParameterType::PARAMETER_STRING,
            Self::ByteArray(_) => ParameterType::PARAMETER_BYTE_ARRAY,
            Self::BoolArray(_) => ParameterType::PARAMETER_BOOL_ARRAY,
            Self::IntegerArray(_) => ParameterType::PARAMETER_INTEGER_ARRAY,
            Self::DoubleArray(_) => ParameterType::PARAMETER_DOUBLE_ARRAY,
            Self::StringArray(_) => ParameterType::PARAMETER_STRING_ARRAY,
        }
    }

    /// Its type as ROS writes it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::NotSet => "not set",
            Self::Bool(_) => "bool",
            Self::Integer(_) => "integer",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::ByteArray(_) => "byte_array",
            Self::BoolArray(_) => "bool_array",
            Self::IntegerArray(_) => "integer_array",
            Self::DoubleArray(_) => "double_array",
            Self::StringArray(_) => "string_array",
        }
    }

    /// The same value in the type of `other`: whole numbers are numbers, too.
    pub(crate) fn as_type_of(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Integer(whole), Self::Double(_)) => Some(Self::Double(*whole as f64)),
            (Self::IntegerArray(whole), Self::DoubleArray(_)) => {
                Some(Self::DoubleArray(whole.iter().map(|whole| *whole as f64).collect()))
            }
            _ => (self.type_id() == other.type_id()).then(|| self.clone()),
        }
    }

    /// The number, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(whole) => Some(*whole as f64),
            Self::Double(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn to_wire(&self) -> Wire {
        let mut wire = Wire { type_: self.type_id(), ..Default::default() };
        match self.clone() {
            Self::NotSet => {}
            Self::Bool(value) => wire.bool_value = value,
            Self::Integer(value) => wire.integer_value = value,
            Self::Double(value) => wire.double_value = value,
            Self::String(value) => wire.string_value = value,
            Self::ByteArray(value) => wire.byte_array_value = value,
            Self::BoolArray(value) => wire.bool_array_value = value,
            Self::IntegerArray(value) => wire.integer_array_value = value,
            Self::DoubleArray(value) => wire.double_array_value = value,
            Self::StringArray(value) => wire.string_array_value = value,
        }
        wire
    }

    /// The value of a message; one of an unknown type is none.
    pub(crate) fn from_wire(wire: Wire) -> Self {
        match wire.type_ {
            ParameterType::PARAMETER_BOOL => Self::Bool(wire.bool_value),
            ParameterType::PARAMETER_INTEGER => Self::Integer(wire.integer_value),
            ParameterType::PARAMETER_DOUBLE => Self::Double(wire.double_value),
            ParameterType::PARAMETER_STRING => Self::String(wire.string_value),
            ParameterType::PARAMETER_BYTE_ARRAY => Self::ByteArray(wire.byte_array_value),
            ParameterType::PARAMETER_BOOL_ARRAY => Self::BoolArray(wire.bool_array_value),
            ParameterType::PARAMETER_INTEGER_ARRAY => Self::IntegerArray(wire.integer_array_value),
            ParameterType::PARAMETER_DOUBLE_ARRAY => Self::DoubleArray(wire.double_array_value),
            ParameterType::PARAMETER_STRING_ARRAY => Self::StringArray(wire.string_array_value),
            _ => Self::NotSet,
        }
    }
}

macro_rules! values {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for ParameterValue {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}

values! {
    bool => Bool,
    i64 => Integer,
    f64 => Double,
    String => String,
    Vec<f64> => DoubleArray,
    Vec<String> => StringArray,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_wire() {
        for value in [
            ParameterValue::NotSet,
            true.into(),
            (-3_i64).into(),
            0.5.into(),
            "text".to_owned().into(),
            ParameterValue::ByteArray(vec![1, 2]),
            ParameterValue::BoolArray(vec![true, false]),
            ParameterValue::IntegerArray(vec![-1]),
            vec![0.5, 1.5].into(),
            vec!["a".to_owned()].into(),
        ] {
            assert_eq!(ParameterValue::from_wire(value.to_wire()), value);
        }
        assert_eq!(
            ParameterValue::from_wire(Wire { type_: 77, ..Default::default() }),
            ParameterValue::NotSet
        );
    }
}
