// Files below a workspace. Links on the way are refused, the last component is never followed,
// FIFOs and devices are never opened. Paths are as below() takes them; errors are thrown.
#pragma once

#include <sandglass/plugin.hpp>
#include <string_view>

#include "box.h"

namespace local {

// Fills what fits into entry.struct_size; the name is a view into `path`.
void stat_file(const Box& box, std::string_view path, sg_entry& entry, const sandglass::Out& link);
void list_directory(const Box& box, std::string_view path, const sandglass::EntrySink& sink);
void read_file(const Box& box, std::string_view path, uint64_t offset, uint64_t max_bytes,
               const sandglass::Out& out);
// `as.type` is a file (or 0), a link whose target the data is, or a directory; as.mode is set
// exactly.
void write_file(const Box& box, std::string_view path, const sg_entry& as,
                const sandglass::Io& data);
// A file, a link, or an empty directory.
void remove_file(const Box& box, std::string_view path);

}  // namespace local
