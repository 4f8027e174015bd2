// SPDX-License-Identifier: Apache-2.0
// The translation unit that includes everything.
#include <everything.hpp>
