//! The types of the kernel's locks.

/// The type of a lock of the kernel, and for what it is taken: `flags` of `lock:contention_begin`.
///
/// Linux: `LCB_F_SPIN` and others, `include/trace/events/lock.h`.
///
/// # Examples
///
/// ```
/// use perf_profile::lock::LockFlags;
///
/// let flags = LockFlags(LockFlags::SPIN.0 | LockFlags::READ.0);
/// assert_eq!(flags.name(), "rwlock:R");
/// assert_eq!(LockFlags::of_name("rwlock").len(), 2);
/// assert_eq!(LockFlags(1 << 9).name_in_6_1(), "unknown");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockFlags(pub u32);

impl LockFlags {
    /// A lock that is waited for without sleeping.
    #[doc(alias = "LCB_F_SPIN")]
    pub const SPIN: Self = Self(1 << 0);
    /// It is taken for reading.
    #[doc(alias = "LCB_F_READ")]
    pub const READ: Self = Self(1 << 1);
    /// It is taken for writing.
    #[doc(alias = "LCB_F_WRITE")]
    pub const WRITE: Self = Self(1 << 2);
    /// A lock with priority inheritance, or one of a kernel of PREEMPT_RT.
    #[doc(alias = "LCB_F_RT")]
    pub const RT: Self = Self(1 << 3);
    /// A semaphore whose readers count by CPU.
    #[doc(alias = "LCB_F_PERCPU")]
    pub const PERCPU: Self = Self(1 << 4);
    /// A mutex; with [`SPIN`](Self::SPIN), one that is waited for without sleeping at first.
    #[doc(alias = "LCB_F_MUTEX")]
    pub const MUTEX: Self = Self(1 << 5);

    /// Returns the name of the type with the way in which it is taken, as perf prints it with a caller; `unknown` for others.
    ///
    /// perf: `lock_type_table`, `tools/perf/builtin-lock.c`, of Linux 7.2. Flags that it does not know are ignored.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.known().map_or("unknown", |it| it.name)
    }

    /// Returns the same as perf 6.1 prints it: `rtmutex`, and `unknown` with any flag that it does not know.
    #[must_use]
    pub fn name_in_6_1(self) -> &'static str {
        match TYPES.iter().find(|it| it.flags == self) {
            Some(LockType { flags: Self::RT, .. }) => "rtmutex",
            Some(it) => it.name,
            None => "unknown",
        }
    }

    /// Returns the name of the type alone, as perf 7.2 prints it with the address of a lock.
    #[must_use]
    pub fn class(self) -> &'static str {
        self.known().map_or("unknown", |it| it.class)
    }

    /// Returns the types that a name stands for: `rwlock` is `rwlock:R` and `rwlock:W`. Empty if there is no such type.
    #[must_use]
    pub fn of_name(name: &str) -> Vec<Self> {
        match name {
            "mutex-spin" => return vec![Self(Self::MUTEX.0 | Self::SPIN.0)],
            "pcpu-sem" => return Self::of_name("percpu-rwsem"),
            _ => {}
        }
        TYPES.iter().filter(|it| it.name == name || it.class == name).map(|it| it.flags).collect()
    }

    fn known(self) -> Option<&'static LockType> {
        TYPES.iter().find(|it| it.flags.0 == self.0 & KNOWN)
    }
}

struct LockType {
    flags: LockFlags,
    name: &'static str,
    class: &'static str,
}

/// All flags that perf 7.2 knows.
const KNOWN: u32 = (LockFlags::MUTEX.0 << 1) - 1;

const fn lock_type(flags: u32, name: &'static str, class: &'static str) -> LockType {
    LockType { flags: LockFlags(flags), name, class }
}

const TYPES: [LockType; 13] = {
    const SPIN: u32 = LockFlags::SPIN.0;
    const READ: u32 = LockFlags::READ.0;
    const WRITE: u32 = LockFlags::WRITE.0;
    const RT: u32 = LockFlags::RT.0;
    const PERCPU: u32 = LockFlags::PERCPU.0;
    const MUTEX: u32 = LockFlags::MUTEX.0;
    [
        lock_type(0, "semaphore", "semaphore"),
        lock_type(SPIN, "spinlock", "spinlock"),
        lock_type(SPIN | READ, "rwlock:R", "rwlock"),
        lock_type(SPIN | WRITE, "rwlock:W", "rwlock"),
        lock_type(READ, "rwsem:R", "rwsem"),
        lock_type(WRITE, "rwsem:W", "rwsem"),
        lock_type(RT, "rt-mutex", "rt-mutex"),
        lock_type(RT | READ, "rwlock-rt:R", "rwlock-rt"),
        lock_type(RT | WRITE, "rwlock-rt:W", "rwlock-rt"),
        lock_type(PERCPU | READ, "pcpu-sem:R", "percpu-rwsem"),
        lock_type(PERCPU | WRITE, "pcpu-sem:W", "percpu-rwsem"),
        lock_type(MUTEX, "mutex", "mutex"),
        lock_type(MUTEX | SPIN, "mutex", "mutex"),
    ]
};
