// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/xtensor.hpp - the containers of xtensor, whose headers moved in version 0.26.
#pragma once

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#else
#include <xtensor/xarray.hpp>
#endif
