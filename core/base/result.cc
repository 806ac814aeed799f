#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace sandglass {

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::failed:
      return "failed";
    case Fault::invalid:
      return "invalid";
    case Fault::unsupported:
      return "unsupported";
    case Fault::not_found:
      return "not_found";
    case Fault::exists:
      return "exists";
    case Fault::denied:
      return "denied";
    case Fault::busy:
      return "busy";
    case Fault::timeout:
      return "timeout";
    case Fault::cancelled:
      return "cancelled";
    case Fault::lost:
      return "lost";
    case Fault::corrupt:
      return "corrupt";
    case Fault::no_memory:
      return "no_memory";
    case Fault::config:
      return "config";
    case Fault::isolation:
      return "isolation";
    case Fault::plugin:
      return "plugin";
  }
  return "failed";
}

static Fault fault_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return Fault::not_found;
    case EEXIST:
      return Fault::exists;
    case EACCES:
    case EPERM:
    case ELOOP:
    case EXDEV:
      return Fault::denied;
    case EINVAL:
      return Fault::invalid;
    case ENOMEM:
      return Fault::no_memory;
    case ETIMEDOUT:
      return Fault::timeout;
    case EBUSY:
    case EAGAIN:
      return Fault::busy;
    case ENOSYS:
    case EOPNOTSUPP:
      return Fault::unsupported;
    default:
      return Fault::failed;
  }
}

tl::unexpected<Error> fail_errno(int code, std::string_view what) {
  return fail(fault_of(code), std::string(what) + ": " + std::generic_category().message(code));
}

}  // namespace sandglass
