//! Intel Processor Trace: packets, and the time that they tell.
