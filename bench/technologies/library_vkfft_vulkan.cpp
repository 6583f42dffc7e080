// SPDX-License-Identifier: Apache-2.0
// VkFFT on Vulkan. Its header calls glslang, and Vulkan's functions, which are pointers of the same names
// here.
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>

#include "bench/technologies/vulkan_api.hpp"

// VkFFT 1.2.26 fills glslang's table of resources by position, and later releases of glslang have more
// entries. Here it gets a table of the length that it expects, and glslang's defaults are passed on in its
// place.
namespace sfft::technologies {

struct VkFftResources {
  int counts[93];
  glslang_limits_t limits;
};

struct ResourcesOrDefaults {
  ResourcesOrDefaults(const VkFftResources*) : resources(glslang_default_resource()) {}
  const glslang_resource_t* resources;
};

/// glslang_input_t, whose last member has another type of the same layout.
struct VkFftInput {
  glslang_source_t language;
  glslang_stage_t stage;
  glslang_client_t client;
  glslang_target_client_version_t client_version;
  glslang_target_language_t target_language;
  glslang_target_language_version_t target_language_version;
  const char* code;
  int default_version;
  glslang_profile_t default_profile;
  int force_default_version_and_profile;
  int forward_compatible;
  glslang_messages_t messages;
  ResourcesOrDefaults resource;
};
static_assert(sizeof(VkFftInput) == sizeof(glslang_input_t));

const glslang_input_t* glslangs(const VkFftInput* input) {
  return reinterpret_cast<const glslang_input_t*>(input);
}

}  // namespace sfft::technologies

#define glslang_shader_create(input) glslang_shader_create(::sfft::technologies::glslangs(input))
#define glslang_shader_preprocess(shader, input) \
  glslang_shader_preprocess(shader, ::sfft::technologies::glslangs(input))
#define glslang_shader_parse(shader, input) \
  glslang_shader_parse(shader, ::sfft::technologies::glslangs(input))
#define glslang_input_t ::sfft::technologies::VkFftInput
#define glslang_resource_t ::sfft::technologies::VkFftResources

#define VKFFT_BACKEND 0
#include <vkFFT.h>

#include "bench/technologies/vkfft_problem.hpp"

namespace sfft::technologies {

namespace {

class VkFftVulkan final : public Technology {
 public:
  explicit VkFftVulkan(int device) : queue_(device, facts_) {
    facts_.driver += ", VkFFT " + std::to_string(VkFFTGetVersion());
    facts_.steps.insert(facts_.steps.end(), {"initializeVkFFT", "vkBeginCommandBuffer", "VkFFTAppend",
                                             "vkEndCommandBuffer", "vkQueueSubmit"});
    commands_ = queue_.commands();
  }
  ~VkFftVulkan() override {
    clear();
    for (VulkanBuffer* buffer : {&input_, &output_, &between_}) queue_.release(*buffer);
  }
  const Facts& facts() const override { return facts_; }
  void reserve(std::int64_t points) override { fit(points * static_cast<std::int64_t>(sizeof(Complex))); }
  void prepare(const Problem& problem, const Setting&) override {
    clear();
    bytes_ = static_cast<std::uint64_t>(problem.points()) * sizeof(Complex);
    fit(static_cast<std::int64_t>(bytes_));
    VkFFTConfiguration configuration = vkfft_configuration(problem, &input_.buffer, &output_.buffer, &bytes_);
    configuration.physicalDevice = &queue_.physical;
    configuration.device = &queue_.device;
    configuration.queue = &queue_.queue;
    configuration.commandPool = &queue_.pool;
    configuration.fence = &queue_.fence;
    configuration.userTempBuffer = 1;
    configuration.tempBuffer = &between_.buffer;
    configuration.tempBufferSize = &bytes_;
    initialize_vkfft(application_, configuration);
    planned_ = true;
    VulkanQueue::begin(commands_);
    queue_.stamp(commands_, 0);
    VkFFTLaunchParams parameters = {};
    parameters.commandBuffer = &commands_;
    parameters.buffer = &output_.buffer;
    parameters.inputBuffer = &input_.buffer;
    if (VkFFTAppend(&application_, -1, &parameters) != VKFFT_SUCCESS) throw Failure("VkFFTAppend failed");
    VulkanQueue::barrier(commands_);
    queue_.stamp(commands_, 1);
    vulkan(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  }
  void upload(const Complex* signal) override {
    queue_.write(input_, signal, static_cast<std::int64_t>(bytes_));
  }
  void download(Complex* spectrum) override {
    queue_.read(spectrum, output_, static_cast<std::int64_t>(bytes_));
  }
  Sample run() override { return queue_.submit(commands_, true); }

 private:
  void clear() {
    if (planned_) deleteVkFFT(&application_);
    application_ = {};
    planned_ = false;
  }
  void fit(std::int64_t bytes) {
    if (bytes > facts_.limits.buffer_bytes) throw Failure("larger than one buffer of this device may be");
    if (bytes <= allocated_) return;
    allocated_ = 0;
    for (VulkanBuffer* buffer : {&input_, &output_, &between_}) {
      queue_.release(*buffer);
      *buffer = queue_.allocate_on_device(bytes);
    }
    allocated_ = bytes;
  }
  Facts facts_;
  VulkanQueue queue_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::uint64_t bytes_ = 0;
  std::int64_t allocated_ = 0;
  VulkanBuffer input_, output_, between_;
  VkFFTApplication application_ = {};
  bool planned_ = false;
};

}  // namespace

std::unique_ptr<Technology> open_vkfft_vulkan(int device) {
  if (!VulkanQueue::exists(device)) return nullptr;
  return std::make_unique<VkFftVulkan>(device);
}

}  // namespace sfft::technologies
