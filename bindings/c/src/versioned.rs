//! Structures whose first field is their size, so that programs and libraries of different versions fit together.

use core::mem::{MaybeUninit, size_of};
use core::ptr;

use crate::error::{PERFDATA_ERROR_UNSUPPORTED, perfdata_error};

/// A structure of numbers and pointers whose first field is its size in bytes.
///
/// # Safety
///
/// The structure is `repr(C)`, its first field is a `usize`, and all bytes of value 0 are a valid value of it.
pub(crate) unsafe trait Versioned: Copy {
    /// Sets the first field.
    fn with_size(self, size: usize) -> Self;
}

/// Implements [`Versioned`].
macro_rules! versioned {
    ($($name:ident),* $(,)?) => {$(
        // SAFETY: the structure is `repr(C)`, has `size` as its first field, and only numbers and nullable pointers.
        unsafe impl $crate::versioned::Versioned for $name {
            fn with_size(self, size: usize) -> Self {
                Self { size, ..self }
            }
        }
        const _: () = assert!(core::mem::offset_of!($name, size) == 0);
    )*};
}
pub(crate) use versioned;

/// Returns a structure with all bytes 0, which is the default of all options.
fn zeroed<T: Versioned>() -> T {
    // SAFETY: the trait promises that this is a valid value.
    unsafe { MaybeUninit::<T>::zeroed().assume_init() }
}

/// Reads options of the program; the defaults for NULL. Fields that an older program does not have are 0.
///
/// # Safety
///
/// `options` is NULL, or has as many bytes as its first field says.
///
/// # Errors
///
/// If the size is impossible, or a newer program sets a field that this library does not have.
pub(crate) unsafe fn read<T: Versioned>(options: *const T, name: &str) -> Result<T, perfdata_error> {
    if options.is_null() {
        return Ok(zeroed::<T>().with_size(size_of::<T>()));
    }
    // SAFETY: the first field is the size.
    let size = unsafe { options.cast::<usize>().read() };
    if size < size_of::<usize>() {
        let text = format!("{name}: its size is {size}; set the field size to the size of the structure");
        return Err(perfdata_error::argument(text));
    }
    // SAFETY: the caller passes that many bytes.
    let given = unsafe { core::slice::from_raw_parts(options.cast::<u8>(), size) };
    let (known, rest) = given.split_at(size.min(size_of::<T>()));
    if rest.iter().any(|&byte| byte != 0) {
        let text = format!(
            "{name}: a field after the first {} bytes is set, which this library does not have; \
             install a newer libperfdata, or leave it 0",
            size_of::<T>()
        );
        return Err(perfdata_error::new(PERFDATA_ERROR_UNSUPPORTED, text));
    }
    let mut value = zeroed::<T>();
    let start = ptr::from_mut(&mut value).cast::<u8>();
    // SAFETY: there are no more of them than the value has bytes, and each field of it may have any bytes of the program's.
    unsafe { ptr::copy_nonoverlapping(known.as_ptr(), start, known.len()) };
    Ok(value.with_size(size_of::<T>()))
}

/// Writes a structure of the library into one of the program, as far as that has room, and sets its size to what was written.
///
/// # Safety
///
/// `out` is NULL, or has as many bytes as its first field says, and can be written.
///
/// # Errors
///
/// If it is NULL, or its size is impossible.
pub(crate) unsafe fn write<T: Versioned>(out: *mut T, value: T, name: &str) -> Result<(), perfdata_error> {
    if out.is_null() {
        return Err(perfdata_error::argument(format!("{name}: the place to write it to is NULL")));
    }
    // SAFETY: the first field is the size.
    let size = unsafe { out.cast::<usize>().read() };
    if size < size_of::<usize>() {
        let text = format!("{name}: its size is {size}; set the field size to the size of the structure");
        return Err(perfdata_error::argument(text));
    }
    let size = size.min(size_of::<T>());
    let value = value.with_size(size);
    // SAFETY: both have that many bytes.
    unsafe { ptr::copy_nonoverlapping(ptr::from_ref(&value).cast::<u8>(), out.cast::<u8>(), size) };
    Ok(())
}
