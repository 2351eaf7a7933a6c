//! Rows as records, and back.

use crate::record::{Area, Thing, View};
use crate::store::{Showing, StoreError};
use bytes::{BufMut, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// What is wrong with a row.
pub(super) struct RowError(pub(super) String);

impl From<tokio_postgres::Error> for RowError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self(super::error::words(&error))
    }
}

impl From<serde_json::Error> for RowError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// A `vector` of pgvector: its length as 16 bits, 16 bits of nothing, its numbers.
#[derive(Debug)]
pub(super) struct Vector(pub(super) Vec<f32>);

impl Vector {
    fn accept(kind: &Type) -> bool {
        kind.name() == "vector"
    }
}

impl ToSql for Vector {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_u16(u16::try_from(self.0.len())?);
        out.put_u16(0);
        self.0.iter().for_each(|value| out.put_f32(*value));
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        Self::accept(kind)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Vector {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let numbers = raw.get(4..).unwrap_or_default();
        let (chunks, rest) = numbers.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(format!("a vector of {} bytes", raw.len()).into());
        }
        Ok(Self(chunks.iter().map(|chunk| f32::from_be_bytes(*chunk)).collect()))
    }

    fn accepts(kind: &Type) -> bool {
        Self::accept(kind)
    }
}

/// The bytes of a vector that nothing is sought in.
pub(super) fn bytes(features: &[f32]) -> Vec<u8> {
    features.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn features(row: &Row, place: usize) -> Result<Vec<f32>, RowError> {
    let bytes: &[u8] = row.try_get(place)?;
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(RowError(format!("a vector of {} bytes", bytes.len())));
    }
    Ok(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
}

/// A record as text.
pub(super) fn json(value: &impl Serialize, store: &str) -> Result<String, StoreError> {
    let damaged =
        |error: serde_json::Error| StoreError::Damaged { store: store.to_owned(), what: error.to_string() };
    serde_json::to_string(value).map_err(damaged)
}

/// The record in the first column.
pub(super) fn record<T: DeserializeOwned>(row: &Row) -> Result<T, RowError> {
    Ok(serde_json::from_str(row.try_get(0)?)?)
}

pub(super) const VIEW: &str = "SELECT data, area, text_features, picture_features FROM prehend_views";

pub(super) fn view(row: &Row) -> Result<View, RowError> {
    let mut view: View = record(row)?;
    view.area = row.try_get(1)?;
    view.text_features = features(row, 2)?;
    view.picture_features = features(row, 3)?;
    Ok(view)
}

pub(super) const THING: &str =
    "SELECT data, features FROM prehend_things LEFT JOIN prehend_features ON thing = id";

pub(super) fn thing(row: &Row) -> Result<Thing, RowError> {
    let mut thing: Thing = record(row)?;
    thing.features = row.try_get::<_, Option<Vector>>(1)?.map_or_else(Vec::new, |vector| vector.0);
    Ok(thing)
}

pub(super) fn area(row: &Row) -> Result<Area, RowError> {
    let mut area: Area = record(row)?;
    area.features = features(row, 1)?;
    Ok(area)
}

pub(super) fn showing(row: &Row) -> Result<Showing, RowError> {
    Ok(Showing { thing: row.try_get(0)?, view: row.try_get(1)?, share: row.try_get(2)? })
}
