//! What a hook needs of sandglass/plugin.h, ABI 1.0. The order of fields is the ABI; fields of no
//! use here are kept as `Unused`, so that the others lie where they belong.
#![allow(dead_code)]

use std::ffi::{c_char, c_void, CStr};
use std::mem::size_of;

pub type Unused = *const c_void;
pub type Status = i32;
pub const OK: Status = 0;
pub const FAILED: Status = 1;
pub const EV_FILES: u64 = 0x7;
pub const LOG_INFO: u32 = 2;
pub const KIND_HOOK: &CStr = c"sandglass.hook/1";

/// sg_str or sg_bytes: a view that its giver owns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct View {
    pub data: *const u8,
    pub len: usize,
}

impl View {
    /// # Safety: only as long as plugin.h says that what it looks at is valid.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        match self.len {
            0 => &[], // an empty one may have null data
            len => std::slice::from_raw_parts(self.data, len),
        }
    }
    pub fn of(text: &str) -> View {
        View {
            data: text.as_ptr(),
            len: text.len(),
        }
    }
}

#[repr(C)]
pub struct Host {
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub reserved: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub service: Unused,
    pub log: extern "C" fn(*const Host, u32, *const c_char, View),
    pub log_enabled_to_time_ms: [Unused; 3],
    pub fail: Unused,
    pub cancelled_to_config_str: [Unused; 6],
    pub config_int: extern "C" fn(*const Host, *const c_void, *const c_char, i64) -> i64,
    // config_num and more follow.
}

#[repr(C)]
pub struct Event {
    pub struct_size: u32,
    pub kind: u32,
    pub flags: u32,
    pub reserved: u32,
    pub seq: u64,
    pub time_ns: i64,
    pub id: View,
    pub sandbox_id: View,
    pub run_id: View,
    pub path: View,
    pub relative: View, // below the workspace root; bytes, whatever the name holds
                        // topic and more follow.
}

#[repr(C)]
pub struct Hook {
    pub struct_size: u32,
    pub reserved: u32,
    pub interests: extern "C" fn(*mut c_void) -> u64,
    pub on_event: extern "C" fn(*mut c_void, *mut c_void, *const Event) -> Status,
    pub on_batch: Unused,
    pub flush: Unused,
}

#[repr(C)]
pub struct Type {
    pub struct_size: u32,
    pub flags: u32,
    pub kind: *const c_char,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub config_schema: *const c_char,
    pub methods: *const Hook,
    pub create: extern "C" fn(*const Host, *mut c_void, *const c_void, *mut *mut c_void) -> Status,
    pub destroy: extern "C" fn(*mut c_void),
    pub diagnose: Unused,
}

#[repr(C)]
pub struct Plugin {
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub abi_minor_needed: u32,
    pub id: *const c_char,
    pub version: *const c_char,
    pub license: *const c_char,
    pub url: *const c_char,
    pub types: *const Types,
}

#[repr(transparent)]
pub struct Types(pub [*const Type; 2]); // null ends it

// Constants that point to constants.
unsafe impl Sync for Hook {}
unsafe impl Sync for Type {}
unsafe impl Sync for Types {}
unsafe impl Sync for Plugin {}

const _: () = assert!(size_of::<Hook>() == 40 && size_of::<Type>() == 72);
const _: () = assert!(size_of::<Plugin>() == 56 && std::mem::offset_of!(Event, relative) == 96);
