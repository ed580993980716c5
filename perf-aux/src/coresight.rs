//! Arm CoreSight: the metadata of a capture, and the bytes of each trace id.
