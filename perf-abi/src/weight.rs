#![allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightStruct {
    pub var1_dw: u32,
    pub var2_w: u16,
    pub var3_w: u16,
}
impl WeightStruct {
    pub fn from_word(w: u64) -> Self {
        Self { var1_dw: w as u32, var2_w: (w >> 32) as u16, var3_w: (w >> 48) as u16 }
    }
    pub fn to_word(self) -> u64 {
        self.var1_dw as u64 | (self.var2_w as u64) << 32 | (self.var3_w as u64) << 48
    }
}
