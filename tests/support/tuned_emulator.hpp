// SPDX-License-Identifier: Apache-2.0
// Runs programs of the tuned engine on the CPU, with their generated kernels compiled by the host's compiler.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "kernels/dense/tuned/codegen/source.hpp"
#include "kernels/dense/tuned/run/executable.hpp"
#include "tests/support/tuned_problem.hpp"

namespace sfft::test {

/// A folder for compiled files, removed with this object.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "sfft-emulated-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

/// Compiles sources into one library. Blocks until it is compiled; throws std::runtime_error with the
/// compiler's message.
class EmulatedKernels {
 public:
  EmulatedKernels(const std::vector<std::string>& sources, const std::filesystem::path& folder,
                  const std::string& name) {
    std::string text =
        "#include \"tests/support/emulated_gpu.hpp\"\n#include \"kernels/dense/tuned/device/kernel.cuh\"\n";
    for (std::size_t i = 0; i < sources.size(); ++i) {
      std::string own = std::regex_replace(sources[i], std::regex("#include[^\n]*\n"), "");
      own = std::regex_replace(own, std::regex("\\b(generated_step|Generated|sfft_kernel)\\b"),
                               fmt::format("$1_{}", i));
      text +=
          own + fmt::format(
                    "extern \"C\" void run_{0}(const sfft::device::Arguments* a, unsigned blocks, unsigned "
                    "threads) {{ emulated::run(sfft_kernel_{0}, *a, blocks, threads); }}\n",
                    i);
    }
    const std::string base = (folder / name).string();
    std::ofstream(base + ".cpp") << text;
#ifdef __clang__
    constexpr const char* kOwn = "";
#else
    constexpr const char* kOwn = " -fno-gnu-unique";  // other libraries have the same variables
#endif
    const std::string command =
        fmt::format("{} -std=c++20 -O1 -w -fPIC -shared{} -I{} {}.cpp -o {}.so 2> {}.log", SFFT_TEST_COMPILER,
                    kOwn, SFFT_TEST_SOURCE, base, base, base);
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(base + ".log");
      throw std::runtime_error(std::string(std::istreambuf_iterator<char>(log), {}).substr(0, 2000));
    }
    library_.reset(dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }

  void run(std::size_t kernel, const device::Arguments& arguments, std::int64_t blocks, int threads) const {
    using Run = void (*)(const device::Arguments*, unsigned, unsigned);
    const auto run = reinterpret_cast<Run>(dlsym(library_.get(), fmt::format("run_{}", kernel).c_str()));
    run(&arguments, static_cast<unsigned>(blocks), static_cast<unsigned>(threads));
  }

 private:
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };
  std::unique_ptr<void, Close> library_;
};

/// Copies data to memory of the emulated GPU.
inline std::shared_ptr<const void> copy_to_host(const void* data, std::size_t bytes) {
  const std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);
  std::copy_n(static_cast<const std::byte*>(data), bytes, copy.get());
  return copy;
}

/// Executes a program whose kernels begin at number `first` of `kernels`.
inline void emulate(const detail::tuned::Program& program, const EmulatedKernels& kernels, std::size_t first,
                    detail::tuned::Tables& tables, const detail::tuned::Call& call) {
  const std::int64_t times = program.one_by_one ? call.batch : 1, batch = program.one_by_one ? 1 : call.batch;
  for (std::int64_t b = 0; b < times; ++b) {
    for (const TunedLaunch& launch : launches_of(program)) {
      const detail::tuned::Kernel& kernel = program.kernels[launch.kernel];
      const std::int64_t lines = kernel.step.policy.transforms_per_block, tiles = kernel.step.tiles();
      const std::int64_t blocks = tiles > 0 ? tiles * launch.groups : (batch + lines - 1) / lines;
      device::Arguments arguments{};
      arguments.input =
          static_cast<const std::byte*>(call.input) + static_cast<std::size_t>(b) * call.input_bytes;
      arguments.output =
          static_cast<std::byte*>(call.output) + static_cast<std::size_t>(b) * call.output_bytes;
      arguments.scratch = call.scratch;
      arguments.first_group = launch.first;
      arguments.lines = batch;
      arguments.tiles = static_cast<unsigned>(blocks);
      arguments.early_blocks = arguments.prefetch_distance = 2;
      arguments.resident_blocks = 4;
      arguments.per_multiprocessor = 0.5f;
      arguments.scale = call.scale;
      arguments.tables = tables.of(kernel.step);
      // Persistent blocks do the work of several.
      kernels.run(first + launch.kernel, arguments,
                  kernel.double_buffers() ? std::min<std::int64_t>(blocks, 3) : blocks, kernel.threads());
    }
  }
}

}  // namespace sfft::test
