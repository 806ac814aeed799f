// A plugin's JSON Schema as a part of the one for whole files.
#pragma once

#include <string>
#include <string_view>

namespace sandglass::config {

// `schema` as it may stand at `place` ("#/definitions/hook.log") of another: its $refs point there,
// its $schema and $id are gone, and a "${NAME}" may stand for each scalar. A schema that is broken
// or refers to elsewhere becomes one that takes everything, with a $comment that says why.
std::string embedded_schema(std::string_view schema, std::string_view place);

}  // namespace sandglass::config
