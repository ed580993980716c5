//! Intel PT: packets, their text, the time and the events, by hand-made traces and by bytes that are chosen at random.
//! The test program `pt_live` compares them with perf.

mod clock;
mod context;
mod events;
mod hostile;
mod info;
mod lines;
mod opcodes;
mod support;
