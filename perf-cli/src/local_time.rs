//! The time zone of this machine.

#![allow(unsafe_code, reason = "the C library knows the time zone")]

/// A date and a time of day in the local time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalTime {
    pub(crate) year: i64,
    /// From 1 on.
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
    /// From Sunday, which is 0.
    pub(crate) weekday: u8,
}

impl LocalTime {
    /// Returns the time of a number of seconds since 1970 in UTC; `None` for a year that the system cannot express.
    #[cfg(unix)]
    pub(crate) fn of(seconds: i64) -> Option<Self> {
        let seconds = libc::time_t::try_from(seconds).ok()?;
        // SAFETY: the struct has only integers and a pointer, for which all zeros are a value.
        let mut tm: libc::tm = unsafe { core::mem::zeroed() };
        // SAFETY: both pointers are to values of this function. The C library reads its time zone under its own lock;
        // no code of this program changes the environment.
        let filled = unsafe { libc::localtime_r(&raw const seconds, &raw mut tm) };
        if filled.is_null() {
            return None;
        }
        let small = |number: libc::c_int| u8::try_from(number).ok();
        Some(Self {
            year: i64::from(tm.tm_year) + 1900,
            month: small(tm.tm_mon + 1)?,
            day: small(tm.tm_mday)?,
            hour: small(tm.tm_hour)?,
            minute: small(tm.tm_min)?,
            second: small(tm.tm_sec)?,
            weekday: small(tm.tm_wday)?,
        })
    }

    /// Other systems have no C library that all programs share. There, no time is local.
    #[cfg(not(unix))]
    pub(crate) fn of(_: i64) -> Option<Self> {
        None
    }
}

/// As `2024-02-29 13:07:01`.
impl core::fmt::Display for LocalTime {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { year, month, day, hour, minute, second, .. } = self;
        write!(f, "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}
