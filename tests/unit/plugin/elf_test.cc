// Case P4 (nothing of another major runs) and the rule that no size in a file is believed.
#include "plugin/elf.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstring>
#include <random>

#include "files.h"
#include "support/temp_dir.h"

namespace sandglass::plugin {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string refusal(const std::string& bytes) {
  const Fd fd = file_of(bytes);
  const auto look = look_into(fd.get());
  return look ? "accepted" : look.error().text;
}

std::string good() {
  return bytes_of(bad_plugin("good"));
}

template <class T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// The first program header of a type, as an offset into the file.
size_t header_of(const std::string& bytes, uint32_t type) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    const size_t at = header.e_phoff + i * sizeof segment;
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.p_type == type) return at;
  }
  ADD_FAILURE() << "no such segment";
  return 0;
}

// The value of a dynamic entry, as an offset into the file.
size_t dynamic_value(const std::string& bytes, int64_t tag) {
  Elf64_Phdr segment;
  std::memcpy(&segment, bytes.data() + header_of(bytes, PT_DYNAMIC), sizeof segment);
  for (size_t at = segment.p_offset; at < segment.p_offset + segment.p_filesz;
       at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.d_tag == tag) return at + offsetof(Elf64_Dyn, d_un);
  }
  ADD_FAILURE() << "no dynamic entry " << tag;
  return 0;
}

TEST(Elf, GoodPlugin_Looked_TellsTable) {
  const Fd fd = file_of(good());
  const auto look = look_into(fd.get());
  ASSERT_TRUE(look) << look.error().text;
  ASSERT_EQ(look->tables.size(), 1u);
  EXPECT_EQ(look->tables[0].major, 1u);
  EXPECT_TRUE(look->tables[0].is_data);
  EXPECT_EQ(look->tables[0].size, 56u);
}

TEST(Elf, NeededLibraries_Looked_AreNamed) {
  const Fd fd = file_of(bytes_of(bad_plugin("missing_library")));
  const auto look = look_into(fd.get());
  ASSERT_TRUE(look) << look.error().text;
  EXPECT_THAT(look->needed, Contains("libsandglass-test-gone.so"));
}

TEST(Elf, OtherMajorAndFunction_Looked_AreTold) {
  const Fd newer = file_of(bytes_of(bad_plugin("newer_major")));
  const auto two = look_into(newer.get());
  ASSERT_TRUE(two && two->tables.size() == 1);
  EXPECT_EQ(two->tables[0].major, 2u);
  const Fd function = file_of(bytes_of(bad_plugin("function_symbol")));
  const auto code = look_into(function.get());
  ASSERT_TRUE(code && code->tables.size() == 1);
  EXPECT_FALSE(code->tables[0].is_data);
}

TEST(Elf, NoPlugin_Looked_HasNoTable) {
  const Fd fd = file_of(bytes_of(bad_plugin("no_symbol")));
  const auto look = look_into(fd.get());
  ASSERT_TRUE(look) << look.error().text;
  EXPECT_TRUE(look->tables.empty());
}

TEST(Elf, EveryPrefix_Looked_IsRefusedWithASentence) {
  const std::string whole = good();
  const Fd fd = file_of(whole);
  for (size_t size = whole.size() - 1;; size--) {
    ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
    const auto look = look_into(fd.get());
    ASSERT_FALSE(look) << "a prefix of " << size << " of " << whole.size() << " bytes passed";
    ASSERT_GT(look.error().text.size(), 10u);
    if (size == 0) break;
  }
}

TEST(Elf, RandomBytesChanged_Looked_NeverCrashes) {
  const std::string whole = good();
  std::mt19937 random(20261130);  // NOLINT: the same every time
  size_t refused = 0;
  for (int round = 0; round < 4000; round++) {
    std::string bytes = whole;
    // Headers and the dynamic tables lie in the first pages: that is where it hurts.
    for (int i = 0; i < 8; i++)
      bytes[random() % (round % 2 ? 1024 : bytes.size())] = static_cast<char>(random());
    refused += refusal(bytes) != "accepted";
  }
  EXPECT_GT(refused, 1000u);
}

TEST(Elf, EveryHeaderFieldHuge_Looked_NeverCrashes) {
  const std::string whole = good();
  for (size_t at = 0; at + 8 <= 1024; at++) {
    std::string bytes = whole;
    put<uint64_t>(bytes, at, 0xffffffffffffff00u);
    refusal(bytes);
    put<uint64_t>(bytes, at, 0x7fffffffu);
    refusal(bytes);
  }
}

TEST(Elf, OtherMachineClassOrOrder_Looked_SaysWhich) {
  std::string bytes = good();
  put<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine), EM_S390);
  EXPECT_THAT(refusal(bytes), HasSubstr("is built for IBM Z, this host is"));
  bytes = good();
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(refusal(bytes), HasSubstr("32-bit"));
  bytes = good();
  bytes[EI_DATA] = ELFDATA2MSB;
  EXPECT_THAT(refusal(bytes), HasSubstr("byte order"));
}

TEST(Elf, OtherType_Looked_SaysHowToLink) {
  std::string bytes = good();
  put<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_type), ET_REL);
  EXPECT_THAT(refusal(bytes), AllOf(HasSubstr("object file"), HasSubstr("-shared")));
  EXPECT_THAT(refusal(bytes_of("/proc/self/exe")), HasSubstr("is a program"));
}

TEST(Elf, NotElf_Looked_SaysSo) {
  EXPECT_THAT(refusal("#!/bin/sh\necho plugin\n"), HasSubstr("is not an ELF file"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("\x7f"
                      "ELF"),
              HasSubstr("is not an ELF file"));
}

TEST(Elf, NoRegularFile_Looked_SaysWhat) {
  const testing::TempDir dir;
  const Fd folder(::open(dir.path().c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(look_into(folder.get()).error().text, HasSubstr("is a directory"));
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const Fd pipe(::open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_THAT(look_into(pipe.get()).error().text, HasSubstr("is not a regular file"));
}

TEST(Elf, SparseGiant_Looked_IsRefusedWithoutReadingIt) {
  const Fd fd = file_of(good());
  ASSERT_EQ(::ftruncate(fd.get(), off_t{8} << 30), 0);
  const auto look = look_into(fd.get());
  ASSERT_FALSE(look);
  EXPECT_THAT(look.error().text, HasSubstr("more than any plugin"));
}

// The sizes below make a reader that believes them take gigabytes.
TEST(Elf, ForgedSizes_Looked_AreRefused) {
  std::string bytes = good();
  put<uint64_t>(bytes, dynamic_value(bytes, DT_STRSZ), uint64_t{6} << 30);
  EXPECT_THAT(refusal(bytes), HasSubstr("its table of names has 6442450944 bytes"));

  bytes = good();
  put<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_phnum), 0xffff);
  EXPECT_THAT(refusal(bytes), HasSubstr("program header table has 65535"));

  bytes = good();
  put<uint64_t>(bytes, header_of(bytes, PT_LOAD) + offsetof(Elf64_Phdr, p_filesz),
                uint64_t{1} << 40);
  EXPECT_THAT(refusal(bytes), HasSubstr("impossible sizes"));

  bytes = good();
  put<uint64_t>(bytes, dynamic_value(bytes, DT_SYMTAB), 0xfffffff0u);
  EXPECT_THAT(refusal(bytes), HasSubstr("symbol table"));
}

TEST(Elf, ForgedHashTable_Looked_IsRefused) {
  std::string bytes = good();
  Elf64_Phdr first;
  std::memcpy(&first, bytes.data() + header_of(bytes, PT_LOAD), sizeof first);
  uint64_t address = 0;
  std::memcpy(&address, bytes.data() + dynamic_value(bytes, DT_GNU_HASH), sizeof address);
  const size_t table = address - first.p_vaddr + first.p_offset;
  std::string many_buckets = bytes;
  put<uint32_t>(many_buckets, table, 0xffffffffu);
  EXPECT_THAT(refusal(many_buckets), HasSubstr("buckets"));
  std::string bloom = bytes;
  put<uint32_t>(bloom, table + 8, 0x000fffffu);
  EXPECT_THAT(refusal(bloom), HasSubstr("hash table"));
}

TEST(Elf, ShrinksWhileLooked_Read_IsAnErrorNotAFault) {
  const std::string whole = good();
  const Fd fd = file_of(whole);
  // pread answers short; a mapping would end the process.
  ASSERT_EQ(::ftruncate(fd.get(), 100), 0);
  EXPECT_FALSE(look_into(fd.get()));
}

}  // namespace
}  // namespace sandglass::plugin
