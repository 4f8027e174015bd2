// SPDX-License-Identifier: Apache-2.0
// The headers of lamina and of the tests that most tests include, beside those of precompiled.hpp:
// LAMINA_TEST_PRECOMPILE.
#pragma once

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include "laws/gradient_check.hpp"
#include "laws/sequence_law.hpp"
#include "precompiled.hpp"

#if __has_include(<protozero/pbf_reader.hpp>)
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>
#endif
#include <lamina/lamina.hpp>
