//! The AUX traces of a capture: their buffers by CPU or thread, in order.
