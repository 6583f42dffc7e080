// SPDX-License-Identifier: Apache-2.0
// Prints a plan's constants as assignments to the arguments of the fused kernel, then compiles and launches
// the kernel.
#include "kernels/cuda/fused/fused.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/runtime/probe.hpp"
#include "kernels/runtime/embedded.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

extern const EmbeddedFile kFusedSources[];
extern const int kFusedSourcesCount;

namespace cuda {

namespace {

/// Assignments to members of the kernel's arguments; the device compiler checks their names.
class Assignments {
 public:
  void set(const std::string& member, std::int64_t value) {
    text_ += fmt::format("  a.{} = {};\n", member, value);
  }
  void set(const std::string& member, double value) {
    if (std::isfinite(value)) text_ += fmt::format("  a.{} = {:a};\n", member, value);
  }
  void set(const std::string& member, const FastDivisor& value) {
    text_ += fmt::format("  a.{0}.divisor = {1}u; a.{0}.multiplier = {2}u; a.{0}.shift = {3}u;\n", member,
                         value.divisor, value.multiplier, value.shift);
  }
  void null_if(const std::string& member, const void* value) {
    if (value == nullptr) text_ += fmt::format("  a.{} = nullptr;\n", member);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The member's name is printed as written.
#define SFFT_SET(member) out.set(#member, a.member)
#define SFFT_SET_INT(member) out.set(#member, static_cast<std::int64_t>(a.member))
#define SFFT_NULL_IF(member) out.null_if(#member, a.member)

void set_layout(const FusedArguments<float>& a, Assignments& out) {
  SFFT_SET_INT(policy.cluster);
  SFFT_SET_INT(policy.groups);
  SFFT_SET_INT(policy.lanes_per_group);
  SFFT_SET_INT(policy.threads);
  SFFT_SET_INT(layout.pitch);
  SFFT_SET_INT(layout.sums);
  SFFT_SET_INT(layout.parts);
  SFFT_SET_INT(layout.finish);
  SFFT_SET_INT(layout.differences);
  SFFT_SET_INT(layout.predicted);
  SFFT_SET_INT(layout.segments);
  SFFT_SET_INT(layout.buffer0);
  SFFT_SET_INT(layout.buffer1);
  SFFT_SET_INT(layout.head);
  SFFT_SET_INT(layout.head_bytes);
  SFFT_SET_INT(layout.lanes);
  SFFT_SET_INT(layout.lanes_bytes);
  SFFT_SET_INT(layout.witness);
  SFFT_SET_INT(layout.witness_bytes);
  SFFT_SET_INT(layout.slice);
  SFFT_SET(by_lanes);
  SFFT_SET(by_slice);
  SFFT_SET(by_pieces);
}

void set_plan(const FusedArguments<float>& a, Assignments& out) {
  SFFT_SET_INT(plan.lanes);
  SFFT_SET(plan.strides[0]);
  SFFT_SET(plan.strides[1]);
  SFFT_SET(plan.strides[2]);
  SFFT_SET_INT(plan.row_points);
  SFFT_SET_INT(plan.rows_per_slab);
  SFFT_SET(plan.by_rows);
  SFFT_NULL_IF(plan.tap_offsets);
  SFFT_SET_INT(plan.k);
  SFFT_SET_INT(plan.rows);
  SFFT_SET_INT(plan.row_buckets);
  SFFT_NULL_IF(plan.power_weight);
  SFFT_NULL_IF(plan.fit);
  SFFT_SET_INT(plan.tail_terms);
  SFFT_SET(plan.power_unit);
  SFFT_SET_INT(plan.witness.pitch);
  SFFT_SET_INT(plan.witness.count);
  SFFT_SET_INT(plan.witness.trimmed);
  SFFT_SET_INT(plan.passes_at);
  SFFT_SET_INT(plan.table_at);
  SFFT_SET_INT(plan.bucket_at);
  SFFT_SET_INT(plan.gain_at);
  SFFT_SET_INT(plan.bias_at);
  SFFT_SET_INT(plan.fit_at);
  SFFT_SET_INT(plan.flags_at);
  SFFT_SET_INT(plan.power_at);
  SFFT_SET_INT(plan.tail_at);
  SFFT_SET_INT(plan.lanes_at);
  SFFT_SET_INT(plan.lane_bytes);
  SFFT_SET_INT(plan.lane_beta);
}

void set_errors(const FusedArguments<float>& a, Assignments& out) {
  SFFT_SET(plan.errors.gain_sum);
  SFFT_SET(plan.errors.bias_sum);
  SFFT_SET(plan.errors.spread_gain);
  SFFT_SET(plan.errors.spread_bias);
  SFFT_SET(plan.errors.fit_power);
  SFFT_SET(plan.errors.fit_noise);
  SFFT_SET(plan.errors.fit_scatter);
  SFFT_SET(plan.errors.tail_per_scale);
  SFFT_SET(plan.errors.halves);
  SFFT_SET(plan.errors.witness_scale);
  SFFT_SET(plan.errors.witness_rounding);
  SFFT_SET(plan.errors.witness_limit);
  SFFT_SET(plan.errors.witness_allowed);
  SFFT_SET(plan.errors.witness_share);
  SFFT_SET(plan.reciprocals.fit_power);
  SFFT_SET(plan.reciprocals.gain_sum);
}

void set_passes(const FusedArguments<float>& a, Assignments& out) {
  SFFT_SET_INT(plan.fft.points);
  SFFT_SET_INT(plan.fft.passes);
  SFFT_SET_INT(plan.fft.first_twiddles);
  for (int i = 0; i < a.plan.fft.passes; ++i) {
    const FftPass& pass = a.plan.fft.pass[i];
    const std::string name = fmt::format("plan.fft.pass[{}].", i);
    out.set(name + "radix", std::int64_t{pass.radix});
    out.set(name + "m", std::int64_t{pass.m});
    out.set(name + "stride", std::int64_t{pass.stride});
    out.set(name + "columns", std::int64_t{pass.columns});
    out.set(name + "twiddles", std::int64_t{pass.twiddles});
    out.set(name + "roots", std::int64_t{pass.roots});
    out.set(name + "by_columns", pass.by_columns);
    out.set(name + "by_stride", pass.by_stride);
    out.set(name + "by_butterflies", pass.by_butterflies);
  }
}

#undef SFFT_SET
#undef SFFT_SET_INT
#undef SFFT_NULL_IF

const char* name_of(Element type) {
  constexpr const char* kNames[] = {"std::uint8_t", "std::uint16_t",  "float",
                                    "double",       "Complex<float>", "Complex<double>"};
  return kNames[static_cast<int>(type)];
}

}  // namespace

std::string generated_source(const FusedArguments<float>& arguments, Element type) {
  Assignments known;
  set_layout(arguments, known);
  set_plan(arguments, known);
  set_errors(arguments, known);
  set_passes(arguments, known);
  return fmt::format(R"(#include "kernels/cuda/fused/fused_kernel.cuh"
using namespace sfft::detail::cuda;
extern "C" __global__ void __launch_bounds__(kSpreadThreads<float>, 1)
    sfft_kernel(const __grid_constant__ FusedArguments<float> given) {{
  FusedArguments<float> a = given;
{}  transform_frame<float, {}, CombSource, true, true>(a, given);
}}
)",
                     known.text(), name_of(type));
}

std::vector<char> compile_generated(const std::string& source, const std::string& architecture) {
  // Substitutes for the standard headers that run-time compilation lacks.
  std::vector<SourceHeader> headers{
      {"cmath", ""},
      {"cstdint",
       "namespace std { using uint8_t = unsigned char; using uint16_t = unsigned short; using int32_t = int; "
       "using uint32_t = unsigned; using int64_t = long long; using uint64_t = unsigned long long; }"}};
  for (int i = 0; i < kFusedSourcesCount; ++i)
    headers.push_back({kFusedSources[i].name, kFusedSources[i].text});
  const std::vector<std::string> options{"--std=c++17", "--device-as-default-execution-space"};
  return compile(source, headers, options, architecture);
}

GeneratedKernel::GeneratedKernel(const FusedArguments<float>& arguments, Element type,
                                 const DeviceInfo& device)
    : type_(type) {
  const std::vector<char> image = compile_generated(generated_source(arguments, type),
                                                    fmt::format("sm_{}{}", device.major, device.minor));
  module_ = std::make_unique<const Module>(image.data());
  const CUfunction function = module_->function("sfft_kernel");
  int local_bytes = 0;
  check_driver(driver().cuFuncGetAttribute(&local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function),
               "asking for a kernel's memory");
  // Measured: if the plan is in local memory, a frame takes two and a half times as long.
  if (local_bytes > static_cast<int>(sizeof arguments / 2))
    throw Error(ErrorCode::backend_unavailable, "this version of NVRTC leaves the plan in memory");
  check_driver(driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           arguments.layout.total),
               "reserving shared memory for a generated kernel");
  if (arguments.policy.cluster > kPortableCluster)
    check_driver(
        driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        "asking for a large cluster");
  function_ = function;
}

GeneratedKernel::~GeneratedKernel() = default;

void GeneratedKernel::launch(const FusedArguments<float>& arguments, Stream stream) const {
  const FusedPolicy& policy = arguments.policy;
  CUlaunchAttribute attributes[2]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim = {static_cast<unsigned>(policy.cluster), 1, 1};
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(arguments.batch.count * policy.cluster);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = static_cast<unsigned>(policy.threads);
  config.sharedMemBytes = static_cast<unsigned>(arguments.layout.total);
  config.hStream = stream;
  config.attrs = attributes;
  config.numAttrs = policy.overlap ? 2 : 1;
  void* parameters[] = {const_cast<FusedArguments<float>*>(&arguments)};
  check_driver(driver().cuLaunchKernelEx(&config, static_cast<CUfunction>(function_), parameters, nullptr),
               "launching a generated kernel");
}

}  // namespace cuda

}  // namespace sfft::detail
