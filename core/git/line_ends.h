// Line ends as git converts them between a blob and the working tree, and nothing else: no filter,
// no encoding, no `$Id$` (rule B6a).
#pragma once

#include <string>
#include <string_view>

#include "git/attributes.h"

namespace sandglass::git {

// What happens to the line ends of one file. The auto ones leave alone what looks binary.
enum class LineEnds { as_is, lf, crlf, auto_lf, auto_crlf };

// `autocrlf` and `eol` are core.autocrlf and core.eol as the configuration has them, or "".
LineEnds line_ends_of(const LineAttributes& attributes, std::string_view autocrlf,
                      std::string_view eol);

// What a checkout writes for a blob.
std::string checked_out(LineEnds how, std::string blob);

// What `git add` would store for a file. `baseline` is the blob it replaces, or empty.
std::string as_stored(LineEnds how, std::string file, std::string_view baseline);

// A text blob with CRLF in it, which git would store otherwise today. It shows every line of such
// a file as changed, and its own patch does not apply.
bool is_unnormalized(LineEnds how, std::string_view blob);

}  // namespace sandglass::git
