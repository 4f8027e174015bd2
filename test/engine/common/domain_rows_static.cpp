// SPDX-License-Identifier: Apache-2.0
// A batch of dense samples has rows in the domain of the mini-batch alone.
#include <lamina/engine/common/domain_rows.hpp>

namespace {

constexpr lamina::engine::domain_rows<3> none, some(5, 7);

static_assert(none.count[lamina::batch::domain] == 0 && none.first[lamina::batch::domain] == 0);
static_assert(some.count[lamina::batch::domain] == 5 && some.first[lamina::batch::domain] == 7);
static_assert(some.count[lamina::batch::domain + 1] == 0);
static_assert(some.offsets[lamina::batch::domain + 1] == nullptr);

}  // namespace
