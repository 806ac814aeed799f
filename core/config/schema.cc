#include "config/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "config/wording.h"

namespace sandglass::config {

std::string duration_text(int64_t ns) {
  static constexpr std::array<std::pair<int64_t, const char*>, 7> kUnits{{{86'400'000'000'000, "d"},
                                                                          {3'600'000'000'000, "h"},
                                                                          {60'000'000'000, "m"},
                                                                          {1'000'000'000, "s"},
                                                                          {1'000'000, "ms"},
                                                                          {1'000, "us"},
                                                                          {1, "ns"}}};
  for (const auto& [size, name] : kUnits)
    if (ns != 0 && ns % size == 0) return std::to_string(ns / size) + name;
  return "0s";
}

namespace {

bool fits(Form form, Kind kind) {
  switch (form) {
    case Form::flag:
      return kind == Kind::boolean;
    case Form::whole:
      return kind == Kind::integer;
    case Form::text:
    case Form::duration:
      return kind == Kind::string;
    case Form::list:
      return kind == Kind::list;
    case Form::map:
    case Form::table:
    case Form::anything:
      return kind == Kind::map;
  }
  return false;
}

const Shape* shape_of(const Rule& rule, Form form) {
  for (const Shape& shape : rule.shapes)
    if (shape.form == form) return &shape;
  return nullptr;
}

const Key* key_of(std::span<const Key> keys, std::string_view name) {
  auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

class Checker {
 public:
  explicit Checker(std::vector<Problem>& problems) : problems_(problems) {}

  void check(const Value& value, const Rule& rule, const std::string& path) {
    for (const Shape& shape : rule.shapes)
      if (fits(shape.form, value.kind)) return take(value, rule, shape, path);
    say(value.place, path, mismatch(value, rule, path));
  }

 private:
  struct Level {
    std::span<const Key> keys;
    std::string path;
  };

  void say(const Place& place, const std::string& path, const std::string& what) {
    problems_.push_back(problem_at(place, path, what));
  }

  void take(const Value& value, const Rule& rule, const Shape& shape, const std::string& path) {
    switch (shape.form) {
      case Form::anything:
        return;
      case Form::flag:
      case Form::whole:
        return take_number(value, rule, shape, path);
      case Form::text:
        if (shape.accepts && !shape.accepts(value.string))
          say(value.place, path,
              said(value) + " cannot stand here; write " + std::string(rule.wanted));
        return;
      case Form::duration:
        return take_duration(value, rule, shape, path);
      case Form::list:
        for (size_t i = 0; i < value.list.size(); i++)
          check(value.list[i], *shape.each, path_of(path, i));
        return;
      case Form::table:
        return take_table(value, shape, path);
      case Form::map:
        return take_map(value, shape, path);
    }
  }

  void take_number(const Value& value, const Rule& rule, const Shape& shape,
                   const std::string& path) {
    const int64_t number = shape.form == Form::flag ? value.boolean : value.integer;
    if (number < shape.low || number > shape.high)
      say(value.place, path, said(value) + " cannot stand here; write " + std::string(rule.wanted));
  }

  void take_duration(const Value& value, const Rule& rule, const Shape& shape,
                     const std::string& path) {
    auto ns = parse_duration(value.string);
    if (!ns)
      say(value.place, path, wrong_unit(value, ns.error(), rule.wanted));
    else if (*ns < shape.low || *ns > shape.high)
      say(value.place, path,
          said(value) + " is out of range; write " + duration_text(shape.low) + " to " +
              duration_text(shape.high));
  }

  void take_table(const Value& value, const Shape& shape, const std::string& path) {
    for (const auto& [key, item] : value.map) {
      const std::string here = path_of(path, key.string);
      if (!shape.accepts(key.string))
        say(key.place, here, "cannot be a name here; write " + std::string(shape.name_words));
      check(item, *shape.each, here);
    }
  }

  void take_map(const Value& value, const Shape& shape, const std::string& path) {
    above_.push_back({shape.keys, path});
    for (const Key& key : shape.keys)
      if (key.required && !value.find(key.name))
        say(value.place, path_of(path, key.name),
            "is missing; write " + std::string(key.rule->wanted));
    for (const auto& [key, item] : value.map) {
      const std::string here = path_of(path, key.string);
      if (const Key* known = key_of(shape.keys, key.string))
        check(item, *known->rule, here);
      else
        say(key.place, here, "unknown key; " + advice(key.string, shape.keys));
    }
    above_.pop_back();
  }

  // A known key at the wrong depth, a typing mistake, or the whole list.
  std::string advice(const std::string& key, std::span<const Key> keys) const {
    for (size_t i = above_.size() - 1; i-- > 0;)
      if (key_of(above_[i].keys, key))
        return "it belongs " + (above_[i].path.empty() ? "at the top of the file"
                                                       : "directly in " + above_[i].path);
    for (const Key& sibling : keys) {
      const Shape* inner = shape_of(*sibling.rule, Form::map);
      if (inner && key_of(inner->keys, key))
        return "it belongs in " + path_of(above_.back().path, sibling.name);
    }
    std::vector<std::string> names;
    for (const Key& k : keys) names.emplace_back(k.name);
    return known_or_near(key, names);
  }

  static std::string mismatch(const Value& value, const Rule& rule, const std::string& path) {
    const std::string words(rule.wanted);
    if (value.kind == Kind::null && path.empty()) return "the file says nothing; write " + words;
    return wrong_kind(
        value, {shape_of(rule, Form::flag) != nullptr, shape_of(rule, Form::duration) != nullptr,
                shape_of(rule, Form::text) != nullptr, words});
  }

  std::vector<Problem>& problems_;
  std::vector<Level> above_;
};

}  // namespace

std::vector<Problem> check(const Value& value, const Rule& rule) {
  std::vector<Problem> problems;
  Checker(problems).check(value, rule, "");
  return problems;
}

}  // namespace sandglass::config
