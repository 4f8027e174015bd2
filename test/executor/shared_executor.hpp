// SPDX-License-Identifier: Apache-2.0
// The executors are instantiated once for all tests of this folder, in executor_test.cpp.
#pragma once

#include <lamina/executor/executor.hpp>

extern template class lamina::basic_executor<float>;
extern template class lamina::basic_executor<double>;
