// Writing JSON. One value is built left to right into a string; the writer places commas. Text that
// is not UTF-8 gets U+FFFD for each wrong byte, so the output is always valid JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sandglass {

// Appends `text` as a JSON string, quotes included.
void append_json_string(std::string& out, std::string_view text);

// JsonWriter w; w.open('{').key("a").value(1).close('}'); w.take();
class JsonWriter {
 public:
  JsonWriter& open(char bracket);   // '{' or '['
  JsonWriter& close(char bracket);  // '}' or ']'
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool on);
  JsonWriter& value(int64_t number);
  JsonWriter& value(uint64_t number);
  JsonWriter& value(int number) { return value(int64_t{number}); }
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // a value that is JSON already

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void comma();
  std::string out_;
};

}  // namespace sandglass
