// SPDX-License-Identifier: Apache-2.0
// The writers of model files, compiled once: CMake's target lamina::io, or this file by hand, with
// -DLAMINA_IO_COMPILED, which the program's own files get too (docs/building.md).
#include <lamina/io/compiled/model_writer_body.hpp>
#include <lamina/io/compiled/onnx_writer_body.hpp>
