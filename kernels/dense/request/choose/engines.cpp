// SPDX-License-Identifier: Apache-2.0
// The names of engines and storage formats, and which engines this build has.
#include <fmt/format.h>

#include "kernels/dense/problem/engine.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::dense {

const char* to_string(Engine engine) noexcept {
  switch (engine) {
    case Engine::automatic:
      return "automatic";
    case Engine::built_in:
      return "built_in";
    case Engine::fftw:
      return "fftw";
    case Engine::cufft:
      return "cufft";
    case Engine::vkfft:
      return "vkfft";
    case Engine::tuned:
      return "tuned";
    case Engine::tensor:
      return "tensor";
  }
  return "unknown";
}

const char* to_string(Storage storage) noexcept {
  switch (storage) {
    case Storage::f32:
      return "f32";
    case Storage::f16:
      return "f16";
    case Storage::bf16:
      return "bf16";
    case Storage::block16:
      return "block16";
  }
  return "unknown";
}

namespace {

bool in_build(Engine engine) noexcept {
  switch (engine) {
    case Engine::automatic:
    case Engine::built_in:
      return true;
    case Engine::fftw:
      return sfft::detail::have_fftw();
    case Engine::cufft:
    case Engine::vkfft:
    case Engine::tuned:
    case Engine::tensor:
      return sfft::detail::gpu_engine_in_build(engine);
  }
  return false;
}

}  // namespace

Availability availability(Engine engine) {
  if (in_build(engine)) return {};
  return {fmt::format("the engine {} is not in this build", to_string(engine))};
}

}  // namespace sfft::dense
