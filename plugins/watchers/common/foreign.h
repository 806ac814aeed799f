// File systems whose other side makes changes that this kernel never hears of.
#pragma once

#include <sys/vfs.h>

namespace watcher_common {

// The name of such a type, null for all others.
inline const char* foreign(const struct statfs& fs) {
  switch (static_cast<unsigned long>(fs.f_type) & 0xffffffffUL) {
    case 0x01021997:
      return "9p";
    case 0x6969:
      return "nfs";
    case 0xff534d42:
      return "cifs";
    case 0xfe534d42:
      return "smb2";
    case 0x517b:
      return "smb";
    case 0x65735546:
      return "fuse or virtiofs";
    case 0x00c36400:
      return "ceph";
    case 0x5346414f:
      return "afs";
    default:
      return nullptr;
  }
}

}  // namespace watcher_common
