//! Arm Statistical Profiling: packets, and the records that they make.
