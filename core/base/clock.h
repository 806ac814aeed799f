// Time: monotonic and wall clock in nanoseconds, and how people see it.
#pragma once

#include <cstdint>
#include <string>

namespace sandglass {

int64_t mono_ns();  // CLOCK_MONOTONIC
int64_t wall_ns();  // since 1970, UTC

// "12:04:11" in the local time zone.
std::string clock_time(int64_t wall_ns);
// "2026-11-30T12:04:11.123Z".
std::string iso_time(int64_t wall_ns);

}  // namespace sandglass
