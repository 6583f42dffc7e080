// SPDX-License-Identifier: Apache-2.0
// main PLUGIN: catches what sfft throws, in this program, in a plug-in that has its own reference to sfft,
// and in sfft-mpi, by its type. Then it unloads the plug-in.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"
#if defined(WITH_MPI)
#include "sfft/mpi.hpp"
#endif

namespace {

int failures = 0;

template <class Call>
void throws(sfft::ErrorCode code, const char* where, const Call& call) {
  try {
    call();
    std::printf("%s: no error\n", where);
  } catch (const sfft::Error& error) {
    if (error.code() == code) return;
    std::printf("%s: %s\n", where, error.what());
  } catch (const std::exception& error) {
    std::printf("%s: not an sfft::Error: %s\n", where, error.what());
  }
  ++failures;
}

}  // namespace

int main(int, char** arguments) {
  throws(sfft::ErrorCode::invalid_argument, "sfft", [] { sfft::Shape shape{-1}; });

  void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  const auto strongest = reinterpret_cast<std::int64_t (*)(const float*, int)>(dlsym(plugin, "strongest"));
  std::vector<float> samples(1024);
  for (std::size_t t = 0; t < samples.size(); ++t)
    samples[t] = static_cast<float>(std::cos(2 * std::numbers::pi * 19 * static_cast<double>(t) / 1024));
  if (strongest(samples.data(), 1024) != 19) {
    std::printf("the plug-in finds another frequency\n");
    ++failures;
  }
  throws(sfft::ErrorCode::invalid_argument, "plug-in", [&] { strongest(samples.data(), 0); });
  dlclose(plugin);

#if defined(WITH_MPI)
  throws(sfft::ErrorCode::invalid_argument, "sfft-mpi", [] { sfft::mpi::Communicator communicator(0); });
#endif
  return failures;
}
