//! tally: counts file events by extension and says the result at the end. A hook in Rust without
//! crates; src/abi.rs is the part of plugin.h it needs.

mod abi;

use abi::*;
use std::collections::BTreeMap;
use std::ffi::{c_void, CStr};
use std::mem::size_of;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;

struct Tally {
    host: *const Host, // valid until destroy() returns
    most: usize,
    counts: BTreeMap<Vec<u8>, u64>, // by extension; bytes, as names are
}

impl Tally {
    fn count(&mut self, path: &[u8]) {
        let name = path.rsplit(|c| *c == b'/').next().unwrap_or(path);
        // ".bashrc" has no extension.
        let dot = name.iter().rposition(|c| *c == b'.').filter(|at| *at > 0);
        let extension = dot.map_or(&b""[..], |at| &name[at..]);
        *self.counts.entry(extension.to_vec()).or_default() += 1;
    }

    fn report(&self) -> String {
        let mut all: Vec<_> = self.counts.iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(**count)); // stable: else by name
        all.truncate(self.most);
        let part = |(extension, count): (&Vec<u8>, &u64)| match extension.len() {
            0 => format!("none {count}"),
            _ => format!("{} {count}", extension.escape_ascii()),
        };
        all.into_iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

/// A panic must not cross the border: it becomes a status.
fn guard(body: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(FAILED)
}

extern "C" fn create(
    host: *const Host,
    _call: *mut c_void,
    config: *const c_void,
    out: *mut *mut c_void,
) -> Status {
    guard(|| {
        let most = unsafe { ((*host).config_int)(host, config, c"/most".as_ptr(), 10) };
        let (most, counts) = (most.max(1) as usize, BTreeMap::new());
        let me = Tally { host, most, counts };
        unsafe { *out = Box::into_raw(Box::new(me)).cast() };
        OK
    })
}

extern "C" fn destroy(this: *mut c_void) {
    guard(|| {
        let me = unsafe { Box::from_raw(this.cast::<Tally>()) };
        let text = format!("file events by extension: {}", me.report());
        unsafe { ((*me.host).log)(me.host, LOG_INFO, null(), View::of(&text)) };
        OK
    });
}

extern "C" fn interests(_this: *mut c_void) -> u64 {
    EV_FILES
}

extern "C" fn on_event(this: *mut c_void, _call: *mut c_void, event: *const Event) -> Status {
    guard(|| {
        // The host never runs two of these at once for one instance, so &mut is ours alone.
        let me = unsafe { &mut *this.cast::<Tally>() };
        me.count(unsafe { (*event).relative.bytes() });
        OK
    })
}

const SCHEMA: &CStr = cr#"{"type": "object", "additionalProperties": false, "properties":
    {"most": {"type": "integer", "minimum": 1, "default": 10,
              "description": "How many extensions are named, the most frequent first"}}}"#;

static HOOK: Hook = Hook {
    struct_size: size_of::<Hook>() as u32,
    reserved: 0,
    interests,
    on_event,
    on_batch: null(),
    flush: null(),
};
static TYPE: Type = Type {
    struct_size: size_of::<Type>() as u32,
    flags: 0,
    kind: KIND_HOOK.as_ptr(),
    name: c"tally".as_ptr(),
    summary: c"Counts file events by extension".as_ptr(),
    config_schema: SCHEMA.as_ptr(),
    methods: &HOOK,
    create,
    destroy,
    diagnose: null(),
};
static TYPES: Types = Types([&TYPE, null()]);

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static sg_plugin_v1: Plugin = Plugin {
    struct_size: size_of::<Plugin>() as u32,
    abi_major: 1,
    abi_minor: 0,
    abi_minor_needed: 0,
    id: c"com.example.tally".as_ptr(),
    version: c"0.1.0".as_ptr(),
    license: c"Apache-2.0".as_ptr(),
    url: null(),
    types: &TYPES,
};
