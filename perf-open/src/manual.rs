#![doc = include_str!("manual.md")]
