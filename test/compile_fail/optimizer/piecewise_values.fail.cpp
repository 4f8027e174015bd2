// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: piecewise_decay needs one value more than boundaries
// expect-fact: expects<3>
// expect-fact: gets<2>
#include <lamina/optimizer/schedule.hpp>

#ifdef SHOULD_FAIL
lamina::schedule::piecewise_decay rate({100, 200}, {1.f, 0.5f});  // <- here
#else
lamina::schedule::piecewise_decay rate({100, 200}, {1.f, 0.5f, 0.1f});
#endif

int main() { return rate.pieces == 3 ? 0 : 1; }
