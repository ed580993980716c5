//! AMD Instruction-Based Sampling: the raw data of samples of `ibs_fetch` and `ibs_op`.
