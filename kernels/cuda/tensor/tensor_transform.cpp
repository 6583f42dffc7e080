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

TensorTransform::TensorTransform(int log, std::int64_t lines, int device, bool forward_only)
    : passes_(tensor::planned_passes(log, lines)),
      log_(log),
      lines_(lines),
      overlap_(device_info(device).overlap) {
  check_tensor_device(device);
  constexpr std::int64_t kMaxBlocks = 0x7fffffff;
  for (const tensor::PlannedPass& pass : passes_) {
    if (pass.pass.tiles > kMaxBlocks) {
      throw Error(
          ErrorCode::backend_unavailable,
          fmt::format("the engine tensor cannot start {} blocks: give a smaller batch", pass.pass.tiles));
    }
    prepare_tensor_pass(pass.tile);
  }
  add_tables(-1);
  if (!forward_only) add_tables(1);
}

void TensorTransform::add_tables(int sign) {
  matrices_[sign] = upload(tensor::matrix_table(tensor::matrix_bits(log_), sign));
  for (const tensor::PlannedPass& pass : passes_) {
    tensor::with_tile(pass.tile, [&](auto tile) {
      twiddles_[{pass.tile, sign}] = upload(tensor::twiddle_table<decltype(tile)>(sign));
    });
  }
}

std::size_t TensorTransform::workspace_bytes() const noexcept {
  if (!need_workspace(passes_)) return 0;
  return aligned(static_cast<std::size_t>(lines_ << log_) * sizeof(tensor::Point));
}

void TensorTransform::run(const TensorCall& call, Stream stream) const {
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
    pass.tables = {matrices_.at(sign).as<unsigned>(), twiddles_.at({tile, sign}).as<tensor::Point>()};
    launch_tensor_pass(tile, pass, overlap_, stream);
  }
}

}  // namespace sfft::detail::cuda
