// Strings across the border, and the error that carries a status.
#ifndef SANDGLASS_CPP_TEXT_HPP
#define SANDGLASS_CPP_TEXT_HPP

#include <sandglass/plugin.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

// The inline namespace keeps these types apart from others of the same name in the host, and from
// those of a wrapper for another ABI major.
namespace sandglass {
inline namespace sdk1 {

inline std::string_view view(sg_str text) {
  return text.len ? std::string_view(text.data, text.len) : std::string_view();
}
inline std::string_view view(sg_bytes bytes) {
  return bytes.len ? std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.len)
                   : std::string_view();
}
inline std::string_view view(const char* text) {
  return text ? text : std::string_view();
}
inline sg_str str(std::string_view text) {
  return {text.data(), text.size()};
}
inline sg_bytes bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Throw it to fail a call with a status of your own.
class Error : public std::runtime_error {
 public:
  explicit Error(sg_status status, const std::string& text, uint32_t fail_flags = 0)
      : std::runtime_error(text), status_(status), flags_(fail_flags) {}
  // `where` is the configuration key that is wrong: "endpoint.url".
  static Error config(std::string where, const std::string& text) {
    Error error(SG_E_INVALID, text);
    error.where_ = std::move(where);
    return error;
  }

  sg_status status() const { return status_; }
  uint32_t flags() const { return flags_; }  // SG_FAIL_*
  const std::string& where() const { return where_; }

 private:
  sg_status status_;
  uint32_t flags_;
  std::string where_;
};

// Where bytes go that a call gives back.
class Out {
 public:
  explicit Out(sg_out* out) : out_(out) {}
  sg_out* abi() const { return out_; }
  void append(std::string_view data) const {
    const sg_status status = out_->append(out_, data.data(), data.size());
    if (status != SG_OK) throw Error(status, "the host takes no more");
  }

 private:
  sg_out* out_;
};

}  // namespace sdk1
}  // namespace sandglass

#endif  // SANDGLASS_CPP_TEXT_HPP
