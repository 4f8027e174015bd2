// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/xadapt.hpp - xtensor's views of memory it does not own.
#pragma once

#include <lamina/tensor/xtensor.hpp>

#if __has_include(<xtensor/containers/xadapt.hpp>)
#include <xtensor/containers/xadapt.hpp>
#else
#include <xtensor/xadapt.hpp>
#endif
