// Packs, loose objects, deltas and trees of any bytes: an object comes out within the limit, proven
// where it is said to be, or there is an error.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "git/delta.h"
#include "git/objects.h"
#include "git/snapshot.h"
#include "git/zstream.h"
#include "support/temp_dir.h"

using namespace sandglass;

namespace {

constexpr uint64_t kLimit = 1 << 20;

void put_number(std::string& out, uint64_t number, int bytes) {
  while (bytes-- > 0) out += static_cast<char>(number >> (8 * bytes) & 0xff);
}

void write_file(const std::string& name, std::string_view bytes) {
  const Fd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd) (void)write_all(fd.get(), bytes);
}

// Entries whose heads are the input's and whose data is, mostly, deflated as it should be.
std::string make_pack(fuzz::Bytes& bytes, std::string& offsets, size_t& count) {
  std::string pack = "PACK";
  put_number(pack, 2, 4);
  put_number(pack, 16, 4);
  for (count = 0; count < 16 && !bytes.empty(); count++) {
    put_number(offsets, pack.size(), 4);
    const uint8_t how = bytes.byte();
    pack.append(bytes.take(how & 15));  // the entry's head
    const std::string_view data = bytes.take(bytes.byte());
    pack += how & 16 ? std::string(data) : git::deflate_all(data);
  }
  return pack;
}

// Object i is named by twenty bytes of i.
std::string make_index(const std::string& offsets, size_t count) {
  std::string index("\xfftOc", 4);
  put_number(index, 2, 4);
  for (size_t i = 0; i < 256; i++) put_number(index, std::min(i + 1, count), 4);
  for (size_t i = 0; i < count; i++) index.append(20, static_cast<char>(i));
  for (size_t i = 0; i < count; i++) put_number(index, 0, 4);
  return index + offsets;
}

void read_pack(const std::string& objects, fuzz::Bytes bytes) {
  std::string offsets;
  size_t count = 0;
  write_file(objects + "/pack/pack-1.pack", make_pack(bytes, offsets, count));
  write_file(objects + "/pack/pack-1.idx", make_index(offsets, count));
  const auto root = Root::open(objects);
  if (!root) return;
  const auto pack = git::Pack::open(*root, "pack/pack-1");
  const auto all = git::Objects::open({objects});
  fuzz::require(pack.has_value() && all.has_value(), "the pack opens");
  git::ObjectCache cache;
  for (size_t i = 0; i < count; i++) {
    git::Oid id;
    id.fill(static_cast<uint8_t>(i));
    const auto offset = pack->find(id);
    fuzz::require(offset.has_value(), "the index has it");
    const auto object = pack->read(*offset, kLimit, cache);
    if (object) fuzz::require((*object)->bytes.size() <= kLimit, "within the limit");
    const auto proven = (*all)->read(id, kLimit);
    fuzz::require(!proven || !(*proven)->whole() || (*proven)->bytes.empty(), "no id is forged");
  }
}

void read_loose(const std::string& objects, std::string_view bytes) {
  const std::string name = objects + "/aa/" + std::string(38, 'a');
  for (const std::string& file : {std::string(bytes), git::deflate_all(bytes)}) {
    write_file(name, file);
    const auto all = git::Objects::open({objects});
    if (!all) return;
    git::Oid id;
    id.fill(0xaa);
    const auto got = (*all)->read(id, kLimit);
    fuzz::require(!got || !(*got)->whole() || (*got)->bytes.empty(), "no id is forged");
  }
}

void apply(fuzz::Bytes bytes) {
  const std::string_view base = bytes.take(bytes.byte()), delta = bytes.rest();
  const auto made = git::apply_delta(base, delta, kLimit);
  if (!made) return;
  const auto sizes = git::delta_sizes(delta);
  fuzz::require(sizes && sizes->base == base.size() && sizes->result == made->size(),
                "a delta makes what it says");
  fuzz::require(made->size() <= kLimit, "within the limit");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::TempDir dir;
  static const std::string objects = dir / "objects";
  static const bool made = ::mkdir(objects.c_str(), 0700) == 0 &&
                           ::mkdir((objects + "/pack").c_str(), 0700) == 0 &&
                           ::mkdir((objects + "/aa").c_str(), 0700) == 0;
  fuzz::Bytes bytes(data, size);
  if (!made) return 0;
  switch (bytes.byte() % 4) {
    case 0:
      read_pack(objects, bytes);
      break;
    case 1:
      read_loose(objects, bytes.rest());
      break;
    case 2:
      apply(bytes);
      break;
    default: {
      const std::string_view name = bytes.text(), tree = bytes.rest();
      const auto found = git::find_in_tree(tree, name);
      if (found) fuzz::require(tree.find(name) != tree.npos, "a name that is found is there");
    }
  }
  return 0;
}
