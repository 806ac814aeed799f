#include "sandbox/key.h"

#include "base/hash.h"

namespace sandglass::sandbox {

constexpr size_t kKeyDigits = 32;
constexpr size_t kMostStem = 32;

std::string key_of(const config::Definition& definition, const std::string& workspace,
                   const std::string& thread) {
  if (definition.id.empty()) return {};
  std::string all = definition.json;
  for (const std::string* part : {&workspace, &thread}) all.append(1, '\0').append(*part);
  return sha256_hex(all).substr(0, kKeyDigits);
}

std::string stem_of(const config::Definition& definition, const std::string& workspace) {
  std::string out;
  for (char c :
       definition.id.empty() ? workspace.substr(workspace.rfind('/') + 1) : definition.id) {
    const auto u = static_cast<unsigned char>(c);
    const bool keep = (u >= 'a' && u <= 'z') || (u >= '0' && u <= '9') || u == '.' || u == '_';
    if (keep && !(out.empty() && u == '.'))
      out += c;
    else if (u >= 'A' && u <= 'Z')
      out += static_cast<char>(u + 32);
    else if (!out.empty() && out.back() != '-')
      out += '-';
    if (out.size() == kMostStem) break;
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "box" : out;
}

}  // namespace sandglass::sandbox
