#include "api/patch_stat.h"

namespace sandglass::api {

Lines count_lines(std::string_view patch) {
  Lines lines;
  bool in_hunk = false;
  while (!patch.empty()) {
    const size_t end = patch.find('\n');
    const std::string_view line = patch.substr(0, end);
    patch.remove_prefix(end == std::string_view::npos ? patch.size() : end + 1);
    if (line.starts_with("@@ "))
      in_hunk = true;
    else if (line.starts_with("diff --git "))
      in_hunk = false;  // a type change is two patches in one
    else if (in_hunk && line.starts_with('+'))
      lines.added++;
    else if (in_hunk && line.starts_with('-'))
      lines.removed++;
  }
  return lines;
}

FileStat stat_of(std::string path, const git::Piece& patch) {
  FileStat stat;
  stat.path = std::move(path);
  stat.state = patch.state;
  stat.binary = patch.flags & git::piece_binary;
  const Lines lines = count_lines(patch.bytes);
  stat.added = lines.added;
  stat.removed = lines.removed;
  const std::string_view head = std::string_view(patch.bytes).substr(0, patch.bytes.find("\n@@"));
  if (patch.state == git::PieceState::same || patch.state == git::PieceState::absent)
    stat.change = "same";
  else if (head.find("\nnew file mode") != std::string_view::npos)
    stat.change = "create";
  else if (head.find("\ndeleted file mode") != std::string_view::npos)
    stat.change = "delete";
  else
    stat.change = "change";
  return stat;
}

}  // namespace sandglass::api
