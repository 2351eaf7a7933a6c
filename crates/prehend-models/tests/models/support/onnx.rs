//! Writes small ONNX models: just enough of protobuf's wire format for graphs of a few nodes (onnx.proto, IR version 8).

use std::path::Path;

/// Type of the numbers of a tensor.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Float = 1,
    Int64 = 7,
    Float16 = 10,
}

/// An axis: a number, or a name for a dynamic one.
pub(crate) enum Axis<'a> {
    Is(u64),
    Free(&'a str),
}

/// A graph under construction.
#[derive(Default)]
pub(crate) struct Graph {
    bytes: Vec<u8>,
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field that is a number.
fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

/// A field that is a text, raw bytes or a message.
fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn outlet(name: &str, kind: Kind, axes: &[Axis<'_>]) -> Vec<u8> {
    let mut shape = Vec::new();
    for axis in axes {
        let mut dimension = Vec::new();
        match axis {
            Axis::Is(length) => number(&mut dimension, 1, *length),
            Axis::Free(name) => bytes(&mut dimension, 2, name.as_bytes()),
        }
        bytes(&mut shape, 1, &dimension);
    }
    let (mut tensor, mut kind_of, mut value) = (Vec::new(), Vec::new(), Vec::new());
    number(&mut tensor, 1, kind as u64);
    bytes(&mut tensor, 2, &shape);
    bytes(&mut kind_of, 1, &tensor);
    bytes(&mut value, 1, name.as_bytes());
    bytes(&mut value, 2, &kind_of);
    value
}

impl Graph {
    pub(crate) fn input(mut self, name: &str, kind: Kind, axes: &[Axis<'_>]) -> Self {
        bytes(&mut self.bytes, 11, &outlet(name, kind, axes));
        self
    }

    pub(crate) fn output(mut self, name: &str, kind: Kind, axes: &[Axis<'_>]) -> Self {
        bytes(&mut self.bytes, 12, &outlet(name, kind, axes));
        self
    }

    /// A node with attributes that are lists of integers, or one integer.
    pub(crate) fn node(
        mut self,
        op: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[(&str, &[i64])],
    ) -> Self {
        let mut node = Vec::new();
        inputs.iter().for_each(|name| bytes(&mut node, 1, name.as_bytes()));
        outputs.iter().for_each(|name| bytes(&mut node, 2, name.as_bytes()));
        bytes(&mut node, 4, op.as_bytes());
        for (name, values) in attributes {
            // These are single integers by the operators' definitions.
            let single = ["axis", "to", "keepdims"].contains(name);
            let mut attribute = Vec::new();
            bytes(&mut attribute, 1, name.as_bytes());
            values.iter().for_each(|value| number(&mut attribute, if single { 3 } else { 8 }, *value as u64));
            number(&mut attribute, 20, if single { 2 } else { 7 });
            bytes(&mut node, 5, &attribute);
        }
        bytes(&mut self.bytes, 1, &node);
        self
    }

    fn constant(mut self, name: &str, kind: Kind, shape: &[usize], raw: &[u8]) -> Self {
        let mut tensor = Vec::new();
        shape.iter().for_each(|length| number(&mut tensor, 1, *length as u64));
        number(&mut tensor, 2, kind as u64);
        bytes(&mut tensor, 8, name.as_bytes());
        bytes(&mut tensor, 9, raw);
        bytes(&mut self.bytes, 5, &tensor);
        self
    }

    pub(crate) fn floats(self, name: &str, shape: &[usize], values: &[f32]) -> Self {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "{name}");
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, Kind::Float, shape, &raw)
    }

    pub(crate) fn ints(self, name: &str, values: &[i64]) -> Self {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, Kind::Int64, &[values.len()], &raw)
    }

    /// Writes the model (operators of opset 13).
    pub(crate) fn write(mut self, path: &Path) {
        bytes(&mut self.bytes, 2, b"test");
        let (mut model, mut opset) = (Vec::new(), Vec::new());
        number(&mut model, 1, 8);
        bytes(&mut model, 7, &self.bytes);
        bytes(&mut opset, 1, b"");
        number(&mut opset, 2, 13);
        bytes(&mut model, 8, &opset);
        std::fs::write(path, model).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
