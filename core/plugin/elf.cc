#include "plugin/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace sandglass::plugin {
namespace {

constexpr uint64_t kMaxFile = uint64_t{4} << 30;
constexpr size_t kMaxSegments = 64;
constexpr size_t kMaxDynamic = 4096;         // entries
constexpr uint64_t kMaxStrings = 16u << 20;  // bytes of names
constexpr uint64_t kMaxSymbols = 1u << 20;
constexpr size_t kMaxNeeded = 256;
constexpr unsigned kMaxMajor = 999;
constexpr std::string_view kPrefix = "sg_plugin_v";

struct Machine {
  uint16_t number;
  const char* name;
};
constexpr std::array<Machine, 9> kMachines{{{EM_386, "32-bit x86"},
                                            {EM_X86_64, "x86-64"},
                                            {EM_ARM, "32-bit ARM"},
                                            {EM_AARCH64, "ARM64"},
                                            {EM_RISCV, "RISC-V"},
                                            {EM_PPC64, "POWER"},
                                            {EM_S390, "IBM Z"},
                                            {EM_MIPS, "MIPS"},
                                            {258, "LoongArch"}}};

#if defined(__x86_64__)
constexpr uint16_t kHostMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kHostMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kHostMachine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr uint16_t kHostMachine = EM_PPC64;
#elif defined(__s390x__)
constexpr uint16_t kHostMachine = EM_S390;
#elif defined(__loongarch64)
constexpr uint16_t kHostMachine = 258;
#else
#error "name this machine's e_machine"
#endif
static_assert(sizeof(void*) == 8, "plugins are 64-bit objects");

constexpr std::array<std::string_view, 4> kEnders{"exit", "quick_exit", "_exit", "_Exit"};

std::string machine_name(uint16_t number) {
  for (const Machine& m : kMachines)
    if (m.number == number) return m.name;
  return "machine " + std::to_string(number);
}

tl::unexpected<Error> broken(const std::string& what) {
  return fail(Fault::corrupt, "is a broken ELF file: " + what + ". Build it again");
}

// Whether `what` lies wholly in a file of `size` bytes.
Status inside(const char* what, uint64_t at, uint64_t bytes, uint64_t size) {
  if (at <= size && bytes <= size - at) return {};
  if (at > kMaxFile || bytes > kMaxFile) return broken(std::string(what) + " has impossible sizes");
  return fail(Fault::corrupt, "is cut short: " + std::string(what) + " should reach to byte " +
                                  std::to_string(at + bytes) + ", the file has " +
                                  std::to_string(size) + ". Copy or build it again");
}

class Reader {
 public:
  Reader(int fd, uint64_t size) : fd_(fd), size_(size) {}

  uint64_t size() const { return size_; }
  bool holds(uint64_t at, uint64_t bytes) const { return at <= size_ && bytes <= size_ - at; }

  // False when the file does not have the bytes (any more).
  bool read(uint64_t at, void* out, size_t bytes) const {
    if (!holds(at, bytes)) return false;
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
      const ssize_t n = ::pread(fd_, to, bytes, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      to += n;
      at += static_cast<uint64_t>(n);
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
  uint64_t size_;
};

struct Dynamic {
  uint64_t strings = 0, string_bytes = 0, symbols = 0, hash = 0, gnu_hash = 0;
  uint64_t flags1 = 0;
  std::vector<uint64_t> needed;
};

class Look {
 public:
  explicit Look(Reader file) : file_(file) {}

  Result<Elf> run() {
    if (Status s = header(); !s) return tl::unexpected(s.error());
    if (Status s = segments(); !s) return tl::unexpected(s.error());
    if (Status s = dynamic(); !s) return tl::unexpected(s.error());
    if (Status s = strings(); !s) return tl::unexpected(s.error());
    if (Status s = needed(); !s) return tl::unexpected(s.error());
    if (Status s = tables(); !s) return tl::unexpected(s.error());
    return std::move(out_);
  }

 private:
  Status header();
  Status segments();
  Status check_order(const Elf64_Phdr& segment);
  Status dynamic();
  Status strings();
  Status needed();
  Status tables();
  Result<uint64_t> symbol_count() const;
  Result<uint64_t> gnu_symbol_count() const;
  Result<uint64_t> gnu_chain_end(uint64_t chains, uint64_t first, uint64_t symbol) const;
  void take(const Elf64_Sym& symbol);
  std::optional<std::string_view> name_at(uint64_t at) const;
  // Where in the file the bytes lie that are mapped at an address, if all of them are.
  std::optional<uint64_t> offset_of(uint64_t address, uint64_t bytes) const;

  Reader file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loaded_;
  std::optional<Elf64_Phdr> dynamic_segment_;
  Dynamic dynamic_;
  std::string strings_;
  Elf out_;
};

Status Look::header() {
  unsigned char ident[EI_NIDENT];
  if (!file_.read(0, ident, sizeof ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0)
    return fail(Fault::invalid, "is not an ELF file. A plugin is a shared object (.so)");
  if (ident[EI_CLASS] != ELFCLASS64)
    return fail(Fault::invalid, "is a 32-bit object, this host is 64-bit. Build it for " +
                                    machine_name(kHostMachine));
  constexpr unsigned char order =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (ident[EI_DATA] != order)
    return fail(Fault::invalid,
                "has the other byte order. Build it for " + machine_name(kHostMachine));
  if (Status s = inside("its header", 0, sizeof header_, file_.size()); !s) return s;
  if (!file_.read(0, &header_, sizeof header_)) return broken("its header cannot be read");
  if (header_.e_machine != kHostMachine)
    return fail(Fault::invalid, "is built for " + machine_name(header_.e_machine) +
                                    ", this host is " + machine_name(kHostMachine) +
                                    ". Take the build for it");
  if (header_.e_type != ET_DYN)
    return fail(Fault::invalid, std::string(header_.e_type == ET_REL    ? "is an object file (.o)"
                                            : header_.e_type == ET_EXEC ? "is a program"
                                            : header_.e_type == ET_CORE ? "is a core dump"
                                                                        : "is no shared object") +
                                    ". Link it with -shared");
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 ||
      header_.e_phnum > kMaxSegments)
    return broken("its program header table has " + std::to_string(header_.e_phnum) +
                  " entries of " + std::to_string(header_.e_phentsize) + " bytes");
  return {};
}

Status Look::segments() {
  std::vector<Elf64_Phdr> all(header_.e_phnum);
  const uint64_t bytes = all.size() * sizeof(Elf64_Phdr);
  if (Status s = inside("its program header table", header_.e_phoff, bytes, file_.size()); !s)
    return s;
  if (!file_.read(header_.e_phoff, all.data(), bytes))
    return broken("its program header table cannot be read");
  for (const Elf64_Phdr& segment : all) {
    if (segment.p_type == PT_NULL) continue;
    if (Status s = inside("a segment", segment.p_offset, segment.p_filesz, file_.size()); !s)
      return s;
    if (segment.p_type == PT_DYNAMIC) dynamic_segment_ = segment;
    if (segment.p_type != PT_LOAD) continue;
    if (Status s = check_order(segment); !s) return s;
    loaded_.push_back(segment);
  }
  // The linkers write the section table last: a file without its end is a copy that was cut.
  const uint64_t sections = uint64_t{header_.e_shentsize} * header_.e_shnum;
  if (header_.e_shoff != 0)
    if (Status s = inside("its section table", header_.e_shoff, sections, file_.size()); !s)
      return s;
  if (loaded_.empty() || !dynamic_segment_)
    return fail(Fault::invalid,
                "has nothing to load (a file of debug symbols, or a static one). "
                "Link it with -shared");
  return {};
}

// The loader computes one mapping from the first to the last segment and trusts their order.
Status Look::check_order(const Elf64_Phdr& segment) {
  const uint64_t end = segment.p_vaddr + segment.p_memsz;
  if (segment.p_memsz < segment.p_filesz || end < segment.p_vaddr || end > kMaxFile)
    return broken("a segment has impossible sizes");
  if (!loaded_.empty() && segment.p_vaddr < loaded_.back().p_vaddr + loaded_.back().p_memsz)
    return broken("its segments overlap");
  return {};
}

std::optional<uint64_t> Look::offset_of(uint64_t address, uint64_t bytes) const {
  for (const Elf64_Phdr& s : loaded_) {
    if (address < s.p_vaddr || address - s.p_vaddr > s.p_filesz) continue;
    const uint64_t into = address - s.p_vaddr;
    if (bytes <= s.p_filesz - into) return s.p_offset + into;
  }
  return std::nullopt;
}

Status Look::dynamic() {
  const Elf64_Phdr& segment = *dynamic_segment_;
  const size_t count = segment.p_filesz / sizeof(Elf64_Dyn);
  if (count == 0 || count > kMaxDynamic || !offset_of(segment.p_vaddr, segment.p_filesz))
    return broken("its dynamic section has " + std::to_string(count) + " entries");
  std::vector<Elf64_Dyn> entries(count);
  if (!file_.read(segment.p_offset, entries.data(), count * sizeof(Elf64_Dyn)))
    return broken("its dynamic section cannot be read");
  for (const Elf64_Dyn& entry : entries) {
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL:
        return {};
      case DT_STRTAB:
        dynamic_.strings = value;
        break;
      case DT_STRSZ:
        dynamic_.string_bytes = value;
        break;
      case DT_SYMTAB:
        dynamic_.symbols = value;
        break;
      case DT_HASH:
        dynamic_.hash = value;
        break;
      case DT_GNU_HASH:
        dynamic_.gnu_hash = value;
        break;
      case DT_FLAGS_1:
        dynamic_.flags1 = value;
        break;
      case DT_NEEDED:
        dynamic_.needed.push_back(value);
        break;
      default:
        break;
    }
  }
  return broken("its dynamic section has no end");
}

Status Look::strings() {
  if (dynamic_.flags1 & DF_1_PIE)
    return fail(Fault::invalid, "is a program, not a plugin. Link it with -shared");
  const auto at = offset_of(dynamic_.strings, dynamic_.string_bytes);
  if (!at || dynamic_.string_bytes == 0 || dynamic_.string_bytes > kMaxStrings)
    return broken("its table of names has " + std::to_string(dynamic_.string_bytes) + " bytes");
  strings_.resize(dynamic_.string_bytes);
  if (!file_.read(*at, strings_.data(), strings_.size()))
    return broken("its table of names cannot be read");
  if (strings_.back() != '\0') return broken("its table of names has no end");
  return {};
}

std::optional<std::string_view> Look::name_at(uint64_t at) const {
  if (at >= strings_.size()) return std::nullopt;
  return std::string_view(strings_.c_str() + at);
}

Status Look::needed() {
  if (dynamic_.needed.size() > kMaxNeeded)
    return broken("it needs " + std::to_string(dynamic_.needed.size()) + " libraries");
  for (uint64_t at : dynamic_.needed) {
    const auto name = name_at(at);
    if (!name) return broken("the name of a library it needs lies outside its table of names");
    out_.needed.emplace_back(*name);
  }
  return {};
}

// The dynamic symbol table has no length of its own: the hash table knows it.
Result<uint64_t> Look::symbol_count() const {
  if (dynamic_.hash != 0) {
    uint32_t buckets_and_chains[2];
    const auto at = offset_of(dynamic_.hash, sizeof buckets_and_chains);
    if (!at || !file_.read(*at, buckets_and_chains, sizeof buckets_and_chains))
      return broken("its hash table lies outside it");
    return uint64_t{buckets_and_chains[1]};
  }
  if (dynamic_.gnu_hash != 0) return gnu_symbol_count();
  return broken("it has no hash table, so that nothing can be found in it");
}

Result<uint64_t> Look::gnu_symbol_count() const {
  struct {
    uint32_t buckets, first, bloom_words, bloom_shift;
  } table;
  const auto at = offset_of(dynamic_.gnu_hash, sizeof table);
  if (!at || !file_.read(*at, &table, sizeof table))
    return broken("its hash table lies outside it");
  if (table.buckets > kMaxSymbols || table.bloom_words > kMaxSymbols)
    return broken("its hash table has " + std::to_string(table.buckets) + " buckets");
  const uint64_t buckets_at = dynamic_.gnu_hash + sizeof table + uint64_t{table.bloom_words} * 8;
  std::vector<uint32_t> buckets(table.buckets);
  const auto offset = offset_of(buckets_at, buckets.size() * 4);
  if (!offset || !file_.read(*offset, buckets.data(), buckets.size() * 4))
    return broken("its hash table is larger than the file");
  const uint32_t last = buckets.empty() ? 0 : *std::max_element(buckets.begin(), buckets.end());
  if (last < table.first || last == 0) return uint64_t{table.first};
  return gnu_chain_end(buckets_at + buckets.size() * 4, table.first, last);
}

Result<uint64_t> Look::gnu_chain_end(uint64_t chains, uint64_t first, uint64_t symbol) const {
  std::array<uint32_t, 256> chain;
  for (; symbol < kMaxSymbols; symbol += chain.size()) {
    const uint64_t address = chains + (symbol - first) * 4;
    size_t count = chain.size();
    while (count > 0 && !offset_of(address, count * 4)) count /= 2;  // near the segment's end
    if (count == 0 || !file_.read(*offset_of(address, count * 4), chain.data(), count * 4))
      return broken("its hash table has no end");
    for (size_t i = 0; i < count; i++)
      if (chain[i] & 1) return symbol + i + 1;
    symbol -= chain.size() - count;
  }
  return broken("it has too many symbols");
}

Status Look::tables() {
  const auto count = symbol_count();
  if (!count) return tl::unexpected(count.error());
  if (*count > kMaxSymbols) return broken("it has " + std::to_string(*count) + " symbols");
  const auto at = offset_of(dynamic_.symbols, *count * sizeof(Elf64_Sym));
  if (!at) return broken("its symbol table is larger than the file");
  std::array<Elf64_Sym, 512> some;
  for (uint64_t done = 0; done < *count;) {
    const size_t n = std::min<uint64_t>(some.size(), *count - done);
    if (!file_.read(*at + done * sizeof(Elf64_Sym), some.data(), n * sizeof(Elf64_Sym)))
      return broken("its symbol table cannot be read");
    std::for_each_n(some.begin(), n, [this](const Elf64_Sym& symbol) { take(symbol); });
    done += n;
  }
  std::sort(out_.tables.begin(), out_.tables.end(),
            [](const TableSymbol& a, const TableSymbol& b) { return a.major < b.major; });
  return {};
}

void Look::take(const Elf64_Sym& symbol) {
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  if (binding != STB_GLOBAL && binding != STB_WEAK) return;
  const auto name = name_at(symbol.st_name);
  if (name && symbol.st_shndx == SHN_UNDEF)
    out_.ends_process |= std::find(kEnders.begin(), kEnders.end(), *name) != kEnders.end();
  if (!name || symbol.st_shndx == SHN_UNDEF || name->substr(0, kPrefix.size()) != kPrefix) return;
  const std::string_view digits = name->substr(kPrefix.size());
  unsigned major = 0;
  for (char c : digits) {
    if (c < '0' || c > '9' || major > kMaxMajor) return;
    major = major * 10 + static_cast<unsigned>(c - '0');
  }
  if (digits.empty() || major > kMaxMajor || out_.tables.size() >= kMaxMajor) return;
  out_.tables.push_back({major, ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT, symbol.st_size});
}

}  // namespace

Result<Elf> look_into(int fd) {
  struct stat status;
  if (::fstat(fd, &status) < 0) return fail_errno(errno, "cannot be looked at");
  if (S_ISDIR(status.st_mode))
    return fail(Fault::invalid, "is a directory. Name the .so file in it");
  if (!S_ISREG(status.st_mode))
    return fail(Fault::invalid, "is not a regular file. Name the plugin's .so file");
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size == 0) return fail(Fault::invalid, "is empty. Copy or build it again");
  if (size > kMaxFile)
    return fail(Fault::invalid, "has " + std::to_string(size) + " bytes, more than any plugin");
  return Look(Reader(fd, size)).run();
}

}  // namespace sandglass::plugin
