// SPDX-License-Identifier: Apache-2.0
// The executors of all tests: every operator's kernels, half a minute of a compiler's time.
#include "executor/shared_executor.hpp"

template class lamina::basic_executor<float>;
template class lamina::basic_executor<double>;
