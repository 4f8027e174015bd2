// SPDX-License-Identifier: Apache-2.0
// Starts a program on a Cortex-M processor without an operating system: the vector table, and the
// function that fills the memory and calls main. There is no heap: a program that calls malloc does
// not link, because nothing defines _sbrk.
#include <cstdint>
#include <cstring>

extern "C" {
extern char memory_end[], data_in_flash[], data_begin[], data_end[], bss_begin[], bss_end[];
extern void (*constructors_begin[])();
extern void (*constructors_end[])();
int main();

[[noreturn]] void reset() {
  *reinterpret_cast<volatile std::uint32_t*>(0xe000ed88) |= 0xfU << 20;  // turns on the FPU
  __asm__ volatile("dsb\n isb");
  std::memcpy(data_begin, data_in_flash, static_cast<std::size_t>(data_end - data_begin));
  std::memset(bss_begin, 0, static_cast<std::size_t>(bss_end - bss_begin));
  for (auto construct = constructors_begin; construct != constructors_end; ++construct)
    (*construct)();
  main();
  for (;;) {
  }
}

/// Ends with status 1, for every fault.
[[noreturn]] void fault() {
  const long arguments[] = {0x20023, 1};
  register long r0 __asm__("r0") = 0x20;
  register const long* r1 __asm__("r1") = arguments;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  for (;;) {
  }
}

[[gnu::section(".vectors"), gnu::used]] const void* const vectors[] = {
    memory_end,
    reinterpret_cast<void*>(reset),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
};
}
