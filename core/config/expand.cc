#include "config/expand.h"

#include <algorithm>

#include "base/text.h"
#include "config/scalar.h"

namespace sandglass::config {

namespace {

bool is_name(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9');
         });
}

class Expander {
 public:
  Expander(Environment environment, std::vector<Problem>& problems)
      : environment_(environment), problems_(problems) {}

  void walk(Value& value, const std::string& path) {
    for (size_t i = 0; i < value.list.size(); i++) walk(value.list[i], path_of(path, i));
    for (auto& [key, item] : value.map) walk(item, path_of(path, key.string));
    if (value.kind == Kind::string && value.string.find('$') != std::string::npos)
      scalar(value, path);
  }

 private:
  void scalar(Value& value, const std::string& path) {
    std::string text, why;
    bool used = false;
    if (!fill(value.string, text, used, why)) {
      problems_.push_back(problem_at(value.place, path, why));
      return;
    }
    if (used) value.written = value.string;
    if (used && !value.quoted)
      resolve_plain(text, value);
    else
      value.string = std::move(text);
  }

  // False with `why`. `used` tells that a variable was filled in.
  bool fill(std::string_view from, std::string& out, bool& used, std::string& why) {
    while (!from.empty()) {
      const size_t dollar = std::min(from.find('$'), from.size());
      out.append(from.substr(0, dollar));
      from.remove_prefix(dollar);
      const std::string_view sign = from.substr(0, 2);
      if (sign == "${") {
        const size_t end = from.find('}');
        if (end == std::string_view::npos) {
          why = "\"${\" is not closed; write ${NAME}, or $${ for the characters themselves";
          return false;
        }
        used = true;
        if (!variable(from.substr(2, end - 2), out, why)) return false;
        from.remove_prefix(end + 1);
      } else if (!from.empty()) {
        out += '$';
        from.remove_prefix(sign == "$$" ? 2 : 1);
      }
    }
    return true;
  }

  bool variable(std::string_view inside, std::string& out, std::string& why) {
    const size_t colon = inside.find(":-");
    const std::string name(inside.substr(0, colon));
    const bool has_default = colon != std::string_view::npos;
    const std::string_view fallback = has_default ? inside.substr(colon + 2) : "";
    if (!is_name(name) || fallback.find("${") != std::string_view::npos) {
      why = "\"${" + shown(inside) + "}\" is no variable; write ${NAME} or ${NAME:-default}, not " +
            "nested, or $${ for the characters themselves";
      return false;
    }
    const char* found = environment_ ? environment_(name.c_str()) : nullptr;
    if (!found && !has_default) {
      why = "${" + name + "} is not set in the environment; set it, or write ${" + name +
            ":-default}";
      return false;
    }
    const std::string_view text = found && (*found || !has_default) ? found : fallback;
    if (!is_utf8(text)) {
      why = "${" + name + "} holds bytes that are not UTF-8";
      return false;
    }
    total_ += text.size();
    if (total_ > kMaxExpandedBytes) {
      why = "variables fill in more than 16 MiB";
      return false;
    }
    out.append(text);
    return true;
  }

  Environment environment_;
  std::vector<Problem>& problems_;
  size_t total_ = 0;
};

}  // namespace

void expand(Value& root, Environment environment, std::vector<Problem>& problems) {
  Expander(environment, problems).walk(root, "");
}

}  // namespace sandglass::config
