// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/call_kernels.hpp - the kernels of all operators that are not fused.
// Generated: test/structure/operator_lists.py --update writes this list.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/shared_kernel.hpp>
#include <lamina/operators/activation/prelu_maxout/cpu.hpp>
#include <lamina/operators/activation/softmax/cpu.hpp>
#include <lamina/operators/collective/all_reduce/cpu.hpp>
#include <lamina/operators/control/array/cpu.hpp>
#include <lamina/operators/control/block/cpu.hpp>
#include <lamina/operators/control/print/cpu.hpp>
#include <lamina/operators/control/rank_table/cpu.hpp>
#include <lamina/operators/control/read_minibatch/cpu.hpp>
#include <lamina/operators/control/split_merge/cpu.hpp>
#include <lamina/operators/conv/cpu.hpp>
#include <lamina/operators/decode/beam_search/cpu.hpp>
#include <lamina/operators/decode/beam_search/cpu_decode.hpp>
#include <lamina/operators/elementwise/binary/cpu.hpp>
#include <lamina/operators/elementwise/clip/cpu.hpp>
#include <lamina/operators/elementwise/cpu.hpp>
#include <lamina/operators/elementwise/sum/cpu.hpp>
#include <lamina/operators/embedding/gather/cpu.hpp>
#include <lamina/operators/embedding/lookup_table/cpu.hpp>
#include <lamina/operators/embedding/selected_rows/cpu.hpp>
#include <lamina/operators/fill/cpu.hpp>
#include <lamina/operators/loss/crf/cpu.hpp>
#include <lamina/operators/loss/cross_entropy/cpu.hpp>
#include <lamina/operators/loss/ctc/cpu.hpp>
#include <lamina/operators/loss/ctc/cpu_align.hpp>
#include <lamina/operators/loss/in_batch/cpu.hpp>
#include <lamina/operators/loss/pointwise/cpu.hpp>
#include <lamina/operators/loss/row/cpu.hpp>
#include <lamina/operators/matrix/matmul/cpu.hpp>
#include <lamina/operators/matrix/mul/cpu.hpp>
#include <lamina/operators/metric/classification/cpu.hpp>
#include <lamina/operators/metric/sequence/cpu.hpp>
#include <lamina/operators/norm/batch_norm/cpu.hpp>
#include <lamina/operators/norm/batch_norm/cpu_channels.hpp>
#include <lamina/operators/norm/batch_norm/cpu_joint.hpp>
#include <lamina/operators/norm/cos_sim/cpu.hpp>
#include <lamina/operators/norm/group_norm/cpu.hpp>
#include <lamina/operators/norm/layer_norm/cpu.hpp>
#include <lamina/operators/norm/lrn/cpu.hpp>
#include <lamina/operators/norm/norm/cpu.hpp>
#include <lamina/operators/order/argsort/cpu.hpp>
#include <lamina/operators/pool/pool2d/cpu.hpp>
#include <lamina/operators/pool/pool3d/cpu.hpp>
#include <lamina/operators/random/distribution/cpu.hpp>
#include <lamina/operators/random/dropout/cpu.hpp>
#include <lamina/operators/recurrent/cpu.hpp>
#include <lamina/operators/recurrent/gru/cpu.hpp>
#include <lamina/operators/recurrent/gru_unit/cpu.hpp>
#include <lamina/operators/recurrent/lstm/cpu.hpp>
#include <lamina/operators/recurrent/lstm_unit/cpu.hpp>
#include <lamina/operators/recurrent/lstmp/cpu.hpp>
#include <lamina/operators/reduce/cumsum/cpu.hpp>
#include <lamina/operators/reduce/dimensions/cpu.hpp>
#include <lamina/operators/reduce/mean/cpu.hpp>
#include <lamina/operators/reduce/squared_l2/cpu.hpp>
#include <lamina/operators/region/cpu.hpp>
#include <lamina/operators/region/patch/cpu.hpp>
#include <lamina/operators/region/patch/kernel.hpp>
#include <lamina/operators/region/roi_align/cpu.hpp>
#include <lamina/operators/region/roi_pool/cpu.hpp>
#include <lamina/operators/resize/cpu.hpp>
#include <lamina/operators/sequence/conv/cpu.hpp>
#include <lamina/operators/sequence/conv/cpu_row_conv.hpp>
#include <lamina/operators/sequence/cpu.hpp>
#include <lamina/operators/sequence/expand/cpu.hpp>
#include <lamina/operators/sequence/ids/cpu.hpp>
#include <lamina/operators/sequence/pad/cpu.hpp>
#include <lamina/operators/sequence/pool/cpu.hpp>
#include <lamina/operators/sequence/shape/cpu.hpp>
#include <lamina/operators/sequence/softmax/cpu.hpp>
#include <lamina/operators/shape/join/cpu.hpp>
#include <lamina/operators/shape/query/cpu.hpp>
#include <lamina/operators/shape/reshape/cpu.hpp>
#include <lamina/operators/update/cpu.hpp>
#include <lamina/operators/update/step/cpu.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

LAMINA_EXTERN(void call_kernel<operators::spp>::run<float>(const call_context&))
LAMINA_EXTERN(void call_kernel<operators::spp>::run<double>(const call_context&))

}}}  // namespace lamina::engine::cpu
