// SPDX-License-Identifier: Apache-2.0
// Loads clFFT at run time. The few functions that this needs are declared here.
#include "bench/technologies/dynamic_library.hpp"
#include "bench/technologies/opencl_timing.hpp"

namespace sfft::technologies {

namespace {

struct ClFftApi {
  struct Setup {
    cl_uint major = 2, minor = 12, patch = 2;
    cl_ulong debug = 0;
  };
  using Plan = std::size_t;
  ClFftApi() : library({"libclFFT.so.2"}) {
    library.require(setup, "clfftSetup");
    library.require(create, "clfftCreateDefaultPlan");
    library.require(set_precision, "clfftSetPlanPrecision");
    library.require(set_layout, "clfftSetLayout");
    library.require(set_location, "clfftSetResultLocation");
    library.require(set_batch, "clfftSetPlanBatchSize");
    library.require(bake, "clfftBakePlan");
    library.require(enqueue, "clfftEnqueueTransform");
    library.require(destroy, "clfftDestroyPlan");
  }
  DynamicLibrary library;
  int (*setup)(const Setup*) = nullptr;
  int (*create)(Plan*, cl_context, int, const std::size_t*) = nullptr;
  int (*set_precision)(Plan, int) = nullptr;
  int (*set_layout)(Plan, int, int) = nullptr;
  int (*set_location)(Plan, int) = nullptr;
  int (*set_batch)(Plan, std::size_t) = nullptr;
  int (*bake)(Plan, cl_uint, cl_command_queue*, void (*)(Plan, void*), void*) = nullptr;
  int (*enqueue)(Plan, int, cl_uint, cl_command_queue*, cl_uint, const cl_event*, cl_event*, cl_mem*, cl_mem*,
                 cl_mem) = nullptr;
  int (*destroy)(Plan*) = nullptr;
};

void clfft(int status, const char* call) {
  if (status != 0) throw Failure(std::string(call) + ": status " + std::to_string(status));
}

class ClFft final : public Technology {
 public:
  explicit ClFft(int device) : queue_(device, facts_) {
    const ClFftApi::Setup setup;
    clfft(api_.setup(&setup), "clfftSetup");
    facts_.driver += ", " + api_.library.name();
    for (const char* call :
         {"clfftSetup", "clfftCreateDefaultPlan", "clfftSetPlanPrecision", "clfftSetLayout",
          "clfftSetResultLocation", "clfftBakePlan", "clCreateBuffer", "clfftEnqueueTransform"}) {
      facts_.steps.emplace_back(call);
    }
  }
  ~ClFft() override { clear(); }
  const Facts& facts() const override { return facts_; }
  void prepare(const Problem& problem, const Setting&) override {
    constexpr int kSingle = 1, kInterleaved = 1, kOutOfPlace = 2;
    clear();
    bytes_ = problem.points() * static_cast<std::int64_t>(sizeof(Complex));
    if (bytes_ > facts_.limits.buffer_bytes) throw Failure("larger than one buffer of this device may be");
    const auto extent = static_cast<std::size_t>(problem.length());
    const std::size_t extents[] = {extent, extent};
    clfft(api_.create(&plan_, queue_.context, problem.rank, extents), "clfftCreateDefaultPlan");
    planned_ = true;
    clfft(api_.set_precision(plan_, kSingle), "clfftSetPlanPrecision");
    clfft(api_.set_layout(plan_, kInterleaved, kInterleaved), "clfftSetLayout");
    clfft(api_.set_location(plan_, kOutOfPlace), "clfftSetResultLocation");
    clfft(api_.set_batch(plan_, static_cast<std::size_t>(problem.batch)), "clfftSetPlanBatchSize");
    clfft(api_.bake(plan_, 1, &queue_.queue, nullptr, nullptr), "clfftBakePlan");
    input_ = queue_.allocate(bytes_);
    output_ = queue_.allocate(bytes_);
  }
  void upload(const Complex* signal) override { queue_.write(input_, signal, bytes_); }
  void download(Complex* spectrum) override { queue_.read(spectrum, output_, bytes_); }
  Sample run() override {
    constexpr int kForward = -1;
    return timed(queue_.queue, [&] {
      clfft(api_.enqueue(plan_, kForward, 1, &queue_.queue, 0, nullptr, nullptr, &input_, &output_, nullptr),
            "clfftEnqueueTransform");
    });
  }

 private:
  void clear() {
    if (planned_) api_.destroy(&plan_);
    if (input_ != nullptr) clReleaseMemObject(input_);
    if (output_ != nullptr) clReleaseMemObject(output_);
    planned_ = false;
    input_ = output_ = nullptr;
  }
  ClFftApi api_;
  Facts facts_;
  OpenClQueue queue_;
  ClFftApi::Plan plan_ = 0;
  bool planned_ = false;
  std::int64_t bytes_ = 0;
  cl_mem input_ = nullptr, output_ = nullptr;
};

}  // namespace

std::unique_ptr<Technology> open_clfft(int device) {
  if (!OpenClQueue::exists(device)) return nullptr;
  return std::make_unique<ClFft>(device);
}

}  // namespace sfft::technologies
