// SPDX-License-Identifier: Apache-2.0
// Writes the sources of all kernels, compiles them together, and gives each program its images.
#include "kernels/dense/tuned/run/loading.hpp"

#include <fmt/format.h>

#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/codegen/source.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

std::vector<std::unique_ptr<const Executable>> load(const std::vector<Program>& programs, bool single,
                                                    Tables& tables, const cuda::DeviceInfo& device) {
  std::vector<std::string> sources;
  for (const Program& program : programs) {
    for (const Kernel& kernel : program.kernels) sources.push_back(source_of(kernel, single));
  }
  const auto compiled = compile(sources, fmt::format("sm_{}{}", device.major, device.minor));
  std::vector<std::unique_ptr<const Executable>> made;
  std::size_t next = 0;
  for (const Program& program : programs) {
    std::vector<Image> images;
    for (std::size_t k = 0; k < program.kernels.size(); ++k, ++next) {
      if (!compiled[next].failure.empty())
        throw Error(ErrorCode::backend_unavailable, compiled[next].failure);
      images.push_back(compiled[next].image);
    }
    made.push_back(std::make_unique<const Executable>(program, images, single, tables, device));
  }
  return made;
}

}  // namespace sfft::detail::tuned
