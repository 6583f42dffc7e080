// SPDX-License-Identifier: Apache-2.0
// Vulkan's compute shaders from GLSL or HLSL. One command buffer with all launches is recorded once per
// problem.
#include <array>
#include <map>

#include "bench/technologies/kernel_sources.hpp"
#include "bench/technologies/spirv.hpp"
#include "bench/technologies/vulkan_api.hpp"

namespace sfft::technologies {

namespace {

class VulkanPort final : public Port {
 public:
  VulkanPort(int device, ShaderLanguage language) : queue_(device, facts_), language_(language) {
    make_layouts();
    commands_ = queue_.commands();
    for (const char* call :
         {"vkCreateDescriptorSetLayout", "vkCreatePipelineLayout", "vkCreateDescriptorPool",
          "vkAllocateDescriptorSets", "vkUpdateDescriptorSets", "shaderc_compile_into_spv",
          "vkCreateShaderModule", "vkCreateComputePipelines", "vkAllocateCommandBuffers",
          "vkBeginCommandBuffer", "vkCmdBindPipeline", "vkCmdBindDescriptorSets", "vkCmdPushConstants",
          "vkCmdDispatch", "vkCmdPipelineBarrier", "vkEndCommandBuffer", "vkQueueSubmit",
          "vkWaitForFences"}) {
      step(call);
    }
  }
  ~VulkanPort() override {
    vkDeviceWaitIdle(queue_.device);
    for (VulkanBuffer& array : arrays_) queue_.release(array);
    for (const auto& [key, pipelines] : built_) {
      for (VkPipeline pipeline : pipelines) vkDestroyPipeline(queue_.device, pipeline, nullptr);
    }
    vkDestroyDescriptorPool(queue_.device, sets_pool_, nullptr);
    vkDestroyPipelineLayout(queue_.device, layout_, nullptr);
    vkDestroyDescriptorSetLayout(queue_.device, set_layout_, nullptr);
  }
  void upload(const Complex* signal) override { queue_.write(array(Array::input), signal, bytes()); }
  void download(Complex* spectrum) override { queue_.read(spectrum, array(Array::result), bytes()); }
  Sample run() override { return queue_.submit(commands_, true); }

 private:
  using Pipelines = std::array<VkPipeline, kKernels>;
  const VulkanBuffer& array(Array array) const { return arrays_[static_cast<int>(array)]; }

  void make_layouts() {
    VkDescriptorSetLayoutBinding bindings[2] = {};
    for (std::uint32_t i = 0; i < 2; ++i) {
      bindings[i].binding = i;
      bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      bindings[i].descriptorCount = 1;
      bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo set_info = {};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = 2;
    set_info.pBindings = bindings;
    vulkan(vkCreateDescriptorSetLayout(queue_.device, &set_info, nullptr, &set_layout_),
           "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Parameters)};
    VkPipelineLayoutCreateInfo layout_info = {};
    layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout_;
    layout_info.pushConstantRangeCount = 1;
    layout_info.pPushConstantRanges = &range;
    vulkan(vkCreatePipelineLayout(queue_.device, &layout_info, nullptr, &layout_), "vkCreatePipelineLayout");
    // There is one set for each pair of a source and a target.
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * kArrays * kArrays};
    VkDescriptorPoolCreateInfo pool_info = {};
    pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool_info.maxSets = kArrays * kArrays;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    vulkan(vkCreateDescriptorPool(queue_.device, &pool_info, nullptr, &sets_pool_), "vkCreateDescriptorPool");
    VkDescriptorSetLayout layouts[kArrays * kArrays];
    for (VkDescriptorSetLayout& each : layouts) each = set_layout_;
    VkDescriptorSetAllocateInfo sets_info = {};
    sets_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    sets_info.descriptorPool = sets_pool_;
    sets_info.descriptorSetCount = kArrays * kArrays;
    sets_info.pSetLayouts = layouts;
    vulkan(vkAllocateDescriptorSets(queue_.device, &sets_info, sets_), "vkAllocateDescriptorSets");
  }

  VkPipeline compile(const Setting& setting, int kernel) const {
    const std::string number = "FFT_KERNEL " + std::to_string(kernel);
    const std::string source =
        language_ == ShaderLanguage::glsl
            ? kernel_source("kernels.glsl",
                            "#version 450\n" + defines(setting, {"FFT_GLSL", "FFT_VULKAN", number}))
            : kernel_source("kernels.hlsl", defines(setting, {"FFT_HLSL", number}));
    const std::vector<std::uint32_t> words = compile_to_spirv(source, language_);
    keep_code(std::string(language_ == ShaderLanguage::glsl ? "glsl_" : "hlsl_") +
                  std::to_string(setting.threads) + "_" + std::to_string(kernel) + ".spv",
              words.data(), words.size() * sizeof(std::uint32_t));
    VkShaderModuleCreateInfo module_info = {};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = words.size() * sizeof(std::uint32_t);
    module_info.pCode = words.data();
    VkShaderModule module = VK_NULL_HANDLE;
    vulkan(vkCreateShaderModule(queue_.device, &module_info, nullptr, &module), "vkCreateShaderModule");
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = layout_;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        vkCreateComputePipelines(queue_.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    vkDestroyShaderModule(queue_.device, module, nullptr);
    vulkan(result, "vkCreateComputePipelines");
    return pipeline;
  }

  void build(const Setting& setting) override {
    const auto key = std::make_tuple(setting.threads, setting.tile, setting.built_in_sincos);
    auto found = built_.find(key);
    if (found == built_.end()) {
      // The transposition's tile may exceed a device's shared memory even if 1D problems fit.
      Pipelines pipelines{};
      const std::int64_t tile_bytes = std::int64_t{8} * setting.tile * (setting.tile + 1);
      for (int i = 0; i < kKernels; ++i) {
        if (i == static_cast<int>(Kernel::transpose) && tile_bytes > facts_.limits.shared_bytes) continue;
        pipelines[static_cast<std::size_t>(i)] = compile(setting, i);
      }
      found = built_.emplace(key, pipelines).first;
    }
    pipelines_ = found->second;
  }

  void allocate(std::int64_t bytes) override {
    for (VulkanBuffer& array : arrays_) queue_.release(array);
    for (VulkanBuffer& array : arrays_) array = queue_.allocate_on_device(bytes);
    for (int i = 0; i < kArrays * kArrays; ++i) {
      const VkDescriptorBufferInfo buffers[2] = {{arrays_[i / kArrays].buffer, 0, VK_WHOLE_SIZE},
                                                 {arrays_[i % kArrays].buffer, 0, VK_WHOLE_SIZE}};
      VkWriteDescriptorSet write = {};
      write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      write.dstSet = sets_[i];
      write.descriptorCount = 2;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = buffers;
      vkUpdateDescriptorSets(queue_.device, 1, &write, 0, nullptr);
    }
  }

  void record() override {
    VulkanQueue::begin(commands_);  // also resets the buffer
    queue_.stamp(commands_, 0);
    for (const Launch& launch : schedule_) {
      const int set = static_cast<int>(launch.source) * kArrays + static_cast<int>(launch.target);
      vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE,
                        pipelines_[static_cast<std::size_t>(launch.kernel)]);
      vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &sets_[set], 0,
                              nullptr);
      vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Parameters),
                         &launch.parameters);
      vkCmdDispatch(commands_, launch.parameters.groups_x, launch.groups_y(), 1);
      VulkanQueue::barrier(commands_);
    }
    queue_.stamp(commands_, 1);
    vulkan(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  }

  VulkanQueue queue_;
  ShaderLanguage language_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorPool sets_pool_ = VK_NULL_HANDLE;
  VkDescriptorSet sets_[kArrays * kArrays] = {};
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VulkanBuffer arrays_[kArrays];
  std::map<std::tuple<int, int, bool>, Pipelines> built_;
  Pipelines pipelines_{};
};

std::unique_ptr<Technology> open(int device, ShaderLanguage language) {
  if (!VulkanQueue::exists(device)) return nullptr;
  return std::make_unique<VulkanPort>(device, language);
}

}  // namespace

std::unique_ptr<Technology> open_vulkan_glsl(int device) {
  return open(device, ShaderLanguage::glsl);
}

std::unique_ptr<Technology> open_vulkan_hlsl(int device) {
  return open(device, ShaderLanguage::hlsl);
}

}  // namespace sfft::technologies
