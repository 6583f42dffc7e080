// SPDX-License-Identifier: Apache-2.0
// Uploads the tables of a transform and launches its passes, with a workspace between them.
#include "kernels/cuda/tensor/tensor_transform.hpp"

#include <fmt/format.h>

#include "kernels/base/tensor/tables.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

void check_tensor_device(int device) {
  const DeviceInfo& info = device_info(device);
  if (info.major < 8) {
    throw Error(
        ErrorCode::backend_unavailable,
        fmt::format("the engine tensor needs products of 16 by 8 by 16 fp16 numbers, which GPUs have from "
                    "compute capability 8.0 on, and {} has {}.{}: use another engine",
                    info.name, info.major, info.minor));
  }
  if (!have_tensor_kernels()) {
    throw Error(
        ErrorCode::backend_unavailable,
        "this build has the engine tensor for GPUs before compute capability 8.0 alone: add 80 or later to "
        "CMAKE_CUDA_ARCHITECTURES, or use another engine");
  }
}

TensorTransform::TensorTransform(std::vector<tensor::PlannedPass> passes, std::int64_t points_of_batch,
                                 int device, bool forward_only)
    : passes_(std::move(passes)), points_(points_of_batch), overlap_(device_info(device).overlap) {
  check_tensor_device(device);
  constexpr std::int64_t kMaxBlocks = 0x7fffffff;
  for (tensor::PlannedPass& pass : passes_) {
    if (pass.pass.tiles > kMaxBlocks) {
      throw Error(
          ErrorCode::backend_unavailable,
          fmt::format("the engine tensor cannot start {} blocks: give a smaller batch", pass.pass.tiles));
    }
    // Prefetches half as many tiles ahead as blocks run at the same time: more lines would push others out of
    // the cache.
    pass.pass.ahead = std::int64_t{device_info(device).multiprocessors} * prepare_tensor_pass(pass.tile) / 2;
    add_tables(pass.tile, -1);
    if (!forward_only) add_tables(pass.tile, 1);
  }
}

void TensorTransform::add_tables(const tensor::TileChoice& tile, int sign) {
  DeviceBuffer& matrices = matrices_[{tensor::matrix_kind(tile), sign}];
  if (matrices.bytes() == 0) matrices = upload(tensor::matrix_table(tensor::matrix_kind(tile), sign));
  DeviceBuffer& twiddles = twiddles_[{tile, sign}];
  if (twiddles.bytes() > 0) return;
  tensor::with_tile(tile, [&](auto type) { twiddles = upload(tensor::twiddle_table(type, sign)); });
}

std::size_t TensorTransform::workspace_bytes() const noexcept {
  return need_workspace(passes_) ? aligned(static_cast<std::size_t>(points_) * sizeof(tensor::Point)) : 0;
}

void TensorTransform::run(const Call& call, Stream stream) const {
  const int sign = call.inverse ? 1 : -1;
  auto* const between =
      static_cast<tensor::Point*>(need_workspace(passes_) ? static_cast<void*>(call.workspace) : call.to);
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const bool last = i + 1 == passes_.size();
    const tensor::TileChoice& tile = passes_[i].tile;
    tensor::Pass pass = passes_[i].pass;
    pass.from = i == 0 ? static_cast<const tensor::Point*>(call.from) : between;
    pass.to = last ? static_cast<tensor::Point*>(call.to) : between;
    pass.wide = (reinterpret_cast<std::uintptr_t>(pass.from) | reinterpret_cast<std::uintptr_t>(pass.to)) %
                    sizeof(tensor::PointPair) ==
                0;
    pass.sign = static_cast<float>(sign);
    pass.factor = last ? call.scale : 1.0f;
    pass.split = call.split;
    pass.tables = {matrices_.at({tensor::matrix_kind(tile), sign}).as<unsigned>(),
                   twiddles_.at({tile, sign}).as<tensor::Point>()};
    launch_tensor_pass(tile, pass, overlap_, stream);
  }
}

}  // namespace sfft::detail::cuda
