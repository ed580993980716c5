//! Annotated functions without a terminal: what keys do, and the screens, which `BLESS=1` writes.

mod hostile;
mod keys;
mod made;
mod movement;
mod screens;
