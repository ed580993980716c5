//! The time zone of this machine.

use std::sync::OnceLock;

use tz::{DateTime, TimeZone};

/// Returns the date and the time of day in the local time zone of a number of seconds since 1970 in UTC; `None` for a
/// year beyond those that can be expressed.
///
/// If the time zone is not known, this is in UTC, as the C library has it.
pub(crate) fn of(seconds: i64) -> Option<DateTime> {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let zone = ZONE.get_or_init(|| {
        let zone = match std::env::var("TZ") {
            Ok(name) => TimeZone::from_posix_tz(&name),
            Err(_) => TimeZone::local(),
        };
        zone.unwrap_or_else(|_| TimeZone::utc())
    });
    DateTime::from_timespec(seconds, 0, zone.as_ref()).ok()
}

/// A date and a time of day, as `2024-02-29 13:07:01`.
pub(crate) struct DateText<'a>(pub(crate) &'a DateTime);

impl core::fmt::Display for DateText<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (year, month, day) = (self.0.year(), self.0.month(), self.0.month_day());
        let (hour, minute, second) = (self.0.hour(), self.0.minute(), self.0.second());
        write!(f, "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}
