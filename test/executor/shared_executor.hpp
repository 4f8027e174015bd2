// SPDX-License-Identifier: Apache-2.0
// The executors are instantiated once for all tests, in shared_executor.cpp.
#pragma once

#include <lamina/executor/executor.hpp>

extern template class lamina::basic_executor<float>;
extern template class lamina::basic_executor<double>;
