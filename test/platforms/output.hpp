// SPDX-License-Identifier: Apache-2.0
// Lines of text from programs with or without an operating system, and counts of instructions.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__arm__) && !defined(__linux__)
#define LAMINA_BARE_METAL 1
#else
#define LAMINA_BARE_METAL 0
#include <cstdio>
#endif

namespace output {

#if LAMINA_BARE_METAL

/// Calls the debugger, here qemu.
inline long semihosting(long operation, const void* argument) {
  register long r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
inline void text(const char* line) { semihosting(4, line); }
inline int end() {
  const long arguments[] = {0x20026, 0};  // the program ends with this status
  semihosting(0x20, arguments);
  for (;;) {
  }
}

/// The timer SysTick counts down from 2^24 - 1. With `-icount`, qemu advances it by instructions.
inline volatile std::uint32_t* timer() {
  return reinterpret_cast<volatile std::uint32_t*>(0xe000e010);
}
inline void start_count() {
  timer()[1] = 0xffffff;
  timer()[2] = 0;
  timer()[0] = 5;
}
inline std::uint32_t count() { return 0xffffff - timer()[2]; }
/// An instruction takes 16 ns.
inline float instructions_of(std::uint32_t ticks) {
  return static_cast<float>(ticks) * (1000.F / LAMINA_MEGAHERTZ / 16);
}

#else

inline void text(const char* line) { std::fputs(line, stdout); }
inline int end() { return 0; }
inline void start_count() {}
inline std::uint32_t count() { return 0; }
inline float instructions_of(std::uint32_t) { return 0; }

#endif

/// Prints "NAME NUMBER" with six digits after the point, without arithmetic in double, for which
/// small processors need functions of several kilobytes.
inline void number(const char* name, float value) {
  char line[64], digits[24];
  char* to = line;
  for (; *name != '\0'; ++name) *to++ = *name;
  *to++ = ' ';
  if (value < 0) *to++ = '-';
  const float size = value < 0 ? -value : value;
  const auto whole = static_cast<std::uint32_t>(size);
  const auto part = static_cast<std::uint32_t>((size - static_cast<float>(whole)) * 1e6F + 0.5F);
  std::uint64_t rest = std::uint64_t{whole} * 1000000 + part;
  int n = 0;
  for (; rest > 0 || n < 8; rest /= 10) {
    digits[n++] = static_cast<char>('0' + rest % 10);
    if (n == 6) digits[n++] = '.';
  }
  while (n > 0) *to++ = digits[--n];
  *to++ = '\n';
  *to = '\0';
  text(line);
}

}  // namespace output
