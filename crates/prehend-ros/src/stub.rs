//! Stands in for the traits of `prehend-msgs` until they are there.
#![allow(missing_docs)]
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

pub trait Message: Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Send + Sync + 'static {
    const PACKAGE: &'static str;
    const NAME: &'static str;
}
pub trait Service: Send + Sync + 'static {
    type Request: Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Send + Sync + 'static;
    type Response: Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Send + Sync + 'static;
    const PACKAGE: &'static str;
    const NAME: &'static str;
}
pub trait Action: Send + Sync + 'static {
    type Goal: Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Send + Sync + 'static;
    type Result: Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Send + Sync + 'static;
    type Feedback: Serialize + DeserializeOwned + Clone + Debug + Default + PartialEq + Send + Sync + 'static;
    const PACKAGE: &'static str;
    const NAME: &'static str;
}
pub mod builtin_interfaces {
    pub mod msg {
        #[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct Time {
            pub sec: i32,
            pub nanosec: u32,
        }
    }
}
