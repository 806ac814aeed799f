// The process's real stdout, errors, and exit codes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sandglass::cli {

// Keeps descriptor 1 for us alone: a private copy gets the data, and 1 points to stderr for
// everybody else (plugins, libraries). Call once, before any plugin is loaded.
void claim_stdout();

// To the real stdout. Any thread; a line is never torn. False once the reader is gone (EPIPE).
bool print(std::string_view bytes);
bool print_line(std::string_view text);
// Contents from a sandbox: as they are into a file or pipe, harmless on a terminal.
bool print_contents(std::string_view bytes);
void say(std::string_view text);  // a line to stderr, for people

// Writes "<kind>: <text>" to stderr, and with `json` {"error":{...}} to stdout.
void print_error(const Error& error, bool json = false);

// Exit codes of all commands but run and exec, which give 125 for every fault of ours.
int exit_code(const Error& error);
inline constexpr int kOurFault = 125;
inline constexpr int kUsage = 2;

// "1 file", "2 files".
std::string count_of(uint64_t n, std::string_view noun);

}  // namespace sandglass::cli
