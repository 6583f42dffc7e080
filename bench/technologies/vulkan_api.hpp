// SPDX-License-Identifier: Apache-2.0
// Loads Vulkan's functions at run time. The build needs only its headers.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include <string>
#include <vector>

#include "bench/technologies/technology.hpp"

#define SFFT_VULKAN_INSTANCE_FUNCTIONS(X)     \
  X(vkDestroyInstance)                        \
  X(vkEnumeratePhysicalDevices)               \
  X(vkGetPhysicalDeviceProperties)            \
  X(vkGetPhysicalDeviceMemoryProperties)      \
  X(vkGetPhysicalDeviceQueueFamilyProperties) \
  X(vkCreateDevice)                           \
  X(vkGetDeviceProcAddr)

#define SFFT_VULKAN_DEVICE_FUNCTIONS(X) \
  X(vkDestroyDevice)                    \
  X(vkDeviceWaitIdle)                   \
  X(vkGetDeviceQueue)                   \
  X(vkCreateCommandPool)                \
  X(vkDestroyCommandPool)               \
  X(vkAllocateCommandBuffers)           \
  X(vkFreeCommandBuffers)               \
  X(vkBeginCommandBuffer)               \
  X(vkEndCommandBuffer)                 \
  X(vkResetCommandBuffer)               \
  X(vkQueueSubmit)                      \
  X(vkCreateFence)                      \
  X(vkDestroyFence)                     \
  X(vkResetFences)                      \
  X(vkWaitForFences)                    \
  X(vkCreateBuffer)                     \
  X(vkDestroyBuffer)                    \
  X(vkGetBufferMemoryRequirements)      \
  X(vkAllocateMemory)                   \
  X(vkFreeMemory)                       \
  X(vkBindBufferMemory)                 \
  X(vkMapMemory)                        \
  X(vkUnmapMemory)                      \
  X(vkCreateShaderModule)               \
  X(vkDestroyShaderModule)              \
  X(vkCreateDescriptorSetLayout)        \
  X(vkDestroyDescriptorSetLayout)       \
  X(vkCreateDescriptorPool)             \
  X(vkDestroyDescriptorPool)            \
  X(vkAllocateDescriptorSets)           \
  X(vkUpdateDescriptorSets)             \
  X(vkCreatePipelineLayout)             \
  X(vkDestroyPipelineLayout)            \
  X(vkCreateComputePipelines)           \
  X(vkDestroyPipeline)                  \
  X(vkCreateQueryPool)                  \
  X(vkDestroyQueryPool)                 \
  X(vkGetQueryPoolResults)              \
  X(vkCmdResetQueryPool)                \
  X(vkCmdWriteTimestamp)                \
  X(vkCmdBindPipeline)                  \
  X(vkCmdBindDescriptorSets)            \
  X(vkCmdPushConstants)                 \
  X(vkCmdDispatch)                      \
  X(vkCmdPipelineBarrier)               \
  X(vkCmdCopyBuffer)

// Pointers with the functions' names, which VkFFT's header calls as well. There is one device per process.
#define SFFT_DECLARE(name) extern PFN_##name name;
SFFT_VULKAN_INSTANCE_FUNCTIONS(SFFT_DECLARE)
SFFT_VULKAN_DEVICE_FUNCTIONS(SFFT_DECLARE)
#undef SFFT_DECLARE

namespace sfft::technologies {

/// Throws Failure with the error's name, for example out of memory or a lost device.
void vulkan(VkResult result, const char* call);

struct VulkanBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
};

/// A device with a queue for compute work, a command pool, a fence and two time stamps. Devices are numbered
/// with GPUs first.
class VulkanQueue {
 public:
  static bool exists(int device);
  VulkanQueue(int device, Facts& facts);
  ~VulkanQueue();
  VulkanQueue(const VulkanQueue&) = delete;
  VulkanQueue& operator=(const VulkanQueue&) = delete;

  VulkanBuffer allocate(std::int64_t bytes, VkMemoryPropertyFlags properties) const;
  void release(VulkanBuffer& buffer) const;
  VulkanBuffer allocate_on_device(std::int64_t bytes) const {
    return allocate(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  }
  /// Copies in pieces through a buffer that the host can access.
  void write(const VulkanBuffer& to, const void* from, std::int64_t bytes);
  void read(void* to, const VulkanBuffer& from, std::int64_t bytes);

  VkCommandBuffer commands() const;
  static void begin(VkCommandBuffer commands);
  void stamp(VkCommandBuffer commands, unsigned number) const;  ///< 0 resets both first
  static void barrier(VkCommandBuffer commands);
  /// Submits the commands, waits for them, and reads both stamps.
  Sample submit(VkCommandBuffer commands, bool stamped) const;

  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;

 private:
  VulkanBuffer allocate_staging() const;
  void copy(VkBuffer from, std::int64_t from_at, VkBuffer to, std::int64_t to_at, std::int64_t bytes) const;

  VkQueryPool stamps_ = VK_NULL_HANDLE;
  double ns_per_tick_ = 0;
  std::uint64_t tick_mask_ = 0;
  VulkanBuffer staging_;
  void* mapped_ = nullptr;
};

}  // namespace sfft::technologies
