//! Build ids of the files that samples hit.

use perf_abi::endian::Endian;
use perf_abi::record::{Header, Misc};

use super::error::FileError;
use super::features::FeatureSection;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
pub use crate::record::user::BuildId;

/// An iterator over build ids; made by [`FeatureSection::build_ids`].
#[derive(Clone, Debug)]
pub struct BuildIds<'a, O: Endian> {
    section: FeatureSection<'a>,
    at: Cursor<'a>,
    order: core::marker::PhantomData<O>,
}

impl<'a, O: Endian> BuildIds<'a, O> {
    pub(super) fn new(section: FeatureSection<'a>) -> Self {
        Self { section, at: Cursor::new(section.bytes, 0), order: core::marker::PhantomData }
    }

    fn take(&mut self) -> Result<BuildId<'a>, Error> {
        let start = self.at.offset();
        let header = self.at.fixed::<Header<O>>("header")?;
        let size = header.size.get();
        let Some(body) = size.checked_sub(8) else {
            return Err(Error::new(ErrorKind::RecordSize { size }, start.saturating_add(6)));
        };
        let offset = self.at.offset();
        let body = self.at.bytes(u64::from(body), "build_id")?;
        BuildId::parse::<O>(&mut Cursor::new(body, offset), Misc(header.misc.get()))
    }
}

impl<'a, O: Endian> Iterator for BuildIds<'a, O> {
    type Item = Result<BuildId<'a>, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at.rest().is_empty() {
            return None;
        }
        let taken = self.take();
        if taken.is_err() {
            self.at.take_rest();
        }
        Some(taken.map_err(|error| self.section.error(error)))
    }
}
