// SPDX-License-Identifier: Apache-2.0
// Decides which of a policy's latency-hiding knobs apply to a kernel, and computes its threads and memory.
#include "kernels/dense/tuned/plan/product_layout.hpp"
#include "kernels/dense/tuned/plan/program.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

int Kernel::threads() const {
  return step.policy.threads_per_transform * step.policy.transforms_per_block;
}

std::size_t Kernel::sample_bytes() const {
  return is_16_bit(step.in.storage) ? 2 : element_bytes(element);
}

std::size_t Kernel::shared_bytes(bool single) const {
  if (step.multiplies()) return static_cast<std::size_t>(ProductLayout(step.policy).shared_bytes());
  const auto exchange = static_cast<std::size_t>(exchange_bytes(step, single));
  if (!double_buffers()) return exchange;
  const auto pairs =
      static_cast<std::size_t>(step.points) * static_cast<std::size_t>(step.policy.transforms_per_block);
  return exchange + pairs * 2 * sample_bytes();
}

bool Kernel::double_buffers() const {
  const std::size_t sample = sample_bytes();
  const auto whole = [](std::int64_t count, std::size_t bytes) {
    return static_cast<std::size_t>(count) * bytes % kCopyBytes == 0;
  };
  return step.policy.double_buffered && step.in.form == Form::pairs && step.vector && step.load_interleaved &&
         step.in.inner == 2 && step.method == Method::plain && !step.stages() &&
         whole(step.policy.transforms_per_block, 2 * sample) && step.in.element.fold == 0 &&
         step.in.storage != dense::Storage::block16 && whole(step.in.element.stride, sample);
}

bool Kernel::stays() const {
  return step.multiplies() || double_buffers();
}

bool Kernel::prefetches_early() const {
  return step.policy.early_prefetch && step.in.buffer == Buffer::input && step.out.buffer == Buffer::output &&
         step.in.form == Form::complex && step.in.element == 1 && !step.load_interleaved;
}

bool Kernel::prefetches() const {
  const bool pairs = step.in.form == Form::pairs && step.vector;
  return step.policy.prefetch_distance > 0 && (pairs || step.in.form == Form::complex) && !double_buffers() &&
         (step.load_interleaved ? step.in.inner : step.in.element).stride == (pairs ? 2 : 1);
}

bool Kernel::delays() const {
  return step.policy.block_delay > 0 || step.policy.multiprocessor_delay > 0;
}

Step Kernel::compiled_step() const {
  Step compiled = step;
  KernelPolicy& policy = compiled.policy;
  policy.double_buffered = double_buffers();
  policy.early_prefetch = prefetches_early();
  policy.prefetch_distance = prefetches() ? 1 : 0;
  policy.block_delay = delays() ? 1 : 0;
  policy.multiprocessor_delay = 0;
  policy.max_blocks_per_multiprocessor = 0;
  policy.interleaved_threads = step.interleaves_threads();
  if (step.multiplies()) {
    policy = {};
    policy.radices = step.policy.radices;
    policy.threads_per_transform = step.policy.threads_per_transform;
    policy.transforms_per_block = step.policy.transforms_per_block;
    policy.tensor_cores = step.policy.tensor_cores;
  }
  return compiled;
}

std::size_t Program::scratch_bytes(bool single) const {
  const std::size_t value = is_16_bit(between) ? 4 : static_cast<std::size_t>(value_bytes(single));
  return static_cast<std::size_t>(scratch_values) * value;
}

int Program::exponent() const {
  int sum = 0;
  for (const Kernel& kernel : kernels) sum += kernel.step.out.exponent;
  return sum;
}

}  // namespace sfft::detail::tuned
