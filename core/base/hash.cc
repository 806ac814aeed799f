#include "base/hash.h"

#include <openssl/evp.h>
#include <sys/random.h>

namespace sandglass {

std::string hex(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char c : bytes) {
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr);
  return hex({reinterpret_cast<const char*>(digest), length});
}

Sha256::Sha256() : state_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(state_), EVP_sha256(), nullptr);
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(state_));
}

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(state_), bytes.data(), bytes.size());
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(state_), digest, &length);
  return sandglass::hex({reinterpret_cast<const char*>(digest), length});
}

std::string random_hex(size_t bytes) {
  std::string raw(bytes, '\0');
  size_t have = 0;
  while (have < bytes) {
    ssize_t n = ::getrandom(raw.data() + have, bytes - have, 0);
    if (n > 0) have += static_cast<size_t>(n);
  }
  return hex(raw);
}

}  // namespace sandglass
