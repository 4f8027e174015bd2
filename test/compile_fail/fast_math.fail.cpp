// SPDX-License-Identifier: Apache-2.0
// -ffast-math makes NaN of sigmoid(-1000): Tencent/ncnn#1284, pytorch/glow#4402.
// expect-error: lamina: the compiler: expected the arithmetic of IEEE 754, found -ffast-math
// expect-lines: 40
#ifdef SHOULD_FAIL
#define __FAST_MATH__ 1  // as the compiler does
#endif
#include <lamina/core/config.hpp>  // <- here

int main() {}
