// SPDX-License-Identifier: Apache-2.0
// The interpreter for --job=checkgrad, in a file of its own: it takes the compiler some time, and
// never changes.
#include <lamina/cli/checkgrad.hpp>
