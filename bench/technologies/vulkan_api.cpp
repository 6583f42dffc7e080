// SPDX-License-Identifier: Apache-2.0
// Makes an instance and a device, and copies through memory that the host can access.
#include "bench/technologies/vulkan_api.hpp"

#include <algorithm>
#include <cstring>

#include "bench/technologies/clock.hpp"
#include "bench/technologies/dynamic_library.hpp"

#define SFFT_DEFINE(name) PFN_##name name = nullptr;
SFFT_VULKAN_INSTANCE_FUNCTIONS(SFFT_DEFINE)
SFFT_VULKAN_DEVICE_FUNCTIONS(SFFT_DEFINE)
#undef SFFT_DEFINE

namespace sfft::technologies {

namespace {

constexpr std::int64_t kStagingBytes = std::int64_t{32} << 20;

VkInstance make_instance() {
  static const DynamicLibrary library({"libvulkan.so.1"});
  PFN_vkGetInstanceProcAddr find = nullptr;
  library.require(find, "vkGetInstanceProcAddr");
  auto create = reinterpret_cast<PFN_vkCreateInstance>(find(nullptr, "vkCreateInstance"));
  if (create == nullptr) throw Failure("the Vulkan loader has no vkCreateInstance");
  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "sfft-bench";
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  const VkResult result = create(&info, nullptr, &instance);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) throw Failure("no Vulkan driver: the loader finds none");
  vulkan(result, "vkCreateInstance");
#define SFFT_FIND(name)                                         \
  ::name = reinterpret_cast<PFN_##name>(find(instance, #name)); \
  if (::name == nullptr) throw Failure("Vulkan has no " #name);
  SFFT_VULKAN_INSTANCE_FUNCTIONS(SFFT_FIND)
#undef SFFT_FIND
  return instance;
}

std::vector<VkPhysicalDevice> devices() {
  static const VkInstance instance = make_instance();
  std::uint32_t count = 0;
  vulkan(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> found(count);
  if (count > 0)
    vulkan(vkEnumeratePhysicalDevices(instance, &count, found.data()), "vkEnumeratePhysicalDevices");
  if (found.empty()) throw Failure("Vulkan lists no device");
  std::stable_partition(found.begin(), found.end(), [](VkPhysicalDevice device) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(device, &properties);
    return properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
  });
  return found;
}

/// The first queue family for compute work. `stamp_bits` receives the valid bits of its time stamps, 0 if it
/// takes none.
std::uint32_t family_of(VkPhysicalDevice device, std::uint32_t& stamp_bits) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (std::uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    stamp_bits = families[i].timestampValidBits;
    return i;
  }
  throw Failure("this Vulkan device has no queue for compute work");
}

std::string version_text(std::uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." + std::to_string(VK_API_VERSION_MINOR(version)) +
         "." + std::to_string(VK_API_VERSION_PATCH(version));
}

}  // namespace

void vulkan(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return;
  std::string reason = "result " + std::to_string(result);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) reason = "out of device memory";
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY) reason = "out of host memory";
  if (result == VK_ERROR_DEVICE_LOST) reason = "the device is lost";
  if (result == VK_ERROR_INITIALIZATION_FAILED) reason = "the driver does not start";
  if (result == VK_TIMEOUT) reason = "no answer in time";
  throw Failure(std::string(call) + ": " + reason);
}

bool VulkanQueue::exists(int device) {
  return device < static_cast<int>(devices().size());
}

VulkanQueue::VulkanQueue(int number, Facts& facts) {
  physical = devices().at(static_cast<std::size_t>(number));
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  facts.device = properties.deviceName;
  facts.driver = "Vulkan " + version_text(properties.apiVersion);
  facts.gpu = properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
  facts.limits.group_threads = std::min<std::int64_t>(properties.limits.maxComputeWorkGroupInvocations,
                                                      properties.limits.maxComputeWorkGroupSize[0]);
  facts.limits.shared_bytes = properties.limits.maxComputeSharedMemorySize;
  facts.limits.buffer_bytes = properties.limits.maxStorageBufferRange;
  facts.limits.groups_x = properties.limits.maxComputeWorkGroupCount[0];
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      facts.limits.memory_bytes =
          std::max(facts.limits.memory_bytes, static_cast<std::int64_t>(memory.memoryHeaps[i].size));
  }
  std::uint32_t stamp_bits = 0;
  const std::uint32_t family = family_of(physical, stamp_bits);
  const float priority = 1;
  VkDeviceQueueCreateInfo queue_info = {};
  queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue_info.queueFamilyIndex = family;
  queue_info.queueCount = 1;
  queue_info.pQueuePriorities = &priority;
  VkDeviceCreateInfo device_info = {};
  device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  device_info.queueCreateInfoCount = 1;
  device_info.pQueueCreateInfos = &queue_info;
  vulkan(vkCreateDevice(physical, &device_info, nullptr, &device), "vkCreateDevice");
#define SFFT_FIND(name)                                                      \
  ::name = reinterpret_cast<PFN_##name>(vkGetDeviceProcAddr(device, #name)); \
  if (::name == nullptr) throw Failure("Vulkan has no " #name);
  SFFT_VULKAN_DEVICE_FUNCTIONS(SFFT_FIND)
#undef SFFT_FIND
  vkGetDeviceQueue(device, family, 0, &queue);
  VkCommandPoolCreateInfo pool_info = {};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool_info.queueFamilyIndex = family;
  vulkan(vkCreateCommandPool(device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
  VkFenceCreateInfo fence_info = {};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  vulkan(vkCreateFence(device, &fence_info, nullptr, &fence), "vkCreateFence");
  if (stamp_bits > 0) {
    VkQueryPoolCreateInfo query_info = {};
    query_info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    query_info.queryCount = 2;
    vulkan(vkCreateQueryPool(device, &query_info, nullptr, &stamps_), "vkCreateQueryPool");
    ns_per_tick_ = properties.limits.timestampPeriod;
    tick_mask_ = stamp_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << stamp_bits) - 1;
  }
  staging_ = allocate_staging();
  vulkan(vkMapMemory(device, staging_.memory, 0, VK_WHOLE_SIZE, 0, &mapped_), "vkMapMemory");
  facts.steps = {"vkCreateInstance",
                 "vkEnumeratePhysicalDevices",
                 "vkGetPhysicalDeviceQueueFamilyProperties",
                 "vkCreateDevice",
                 "vkGetDeviceQueue",
                 "vkCreateCommandPool",
                 "vkCreateFence",
                 "vkCreateBuffer",
                 "vkGetBufferMemoryRequirements",
                 "vkAllocateMemory",
                 "vkBindBufferMemory",
                 "vkMapMemory"};
}

VulkanQueue::~VulkanQueue() {
  if (device == VK_NULL_HANDLE) return;
  vkDeviceWaitIdle(device);
  release(staging_);
  if (stamps_ != VK_NULL_HANDLE) vkDestroyQueryPool(device, stamps_, nullptr);
  vkDestroyFence(device, fence, nullptr);
  vkDestroyCommandPool(device, pool, nullptr);
  vkDestroyDevice(device, nullptr);
}

VulkanBuffer VulkanQueue::allocate(std::int64_t bytes, VkMemoryPropertyFlags properties) const {
  VulkanBuffer made;
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = static_cast<VkDeviceSize>(bytes);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  vulkan(vkCreateBuffer(device, &info, nullptr, &made.buffer), "vkCreateBuffer");
  VkMemoryRequirements requirements;
  vkGetBufferMemoryRequirements(device, made.buffer, &requirements);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  for (std::uint32_t i = 0; i < memory.memoryTypeCount && made.memory == VK_NULL_HANDLE; ++i) {
    if ((requirements.memoryTypeBits >> i & 1) == 0) continue;
    if ((memory.memoryTypes[i].propertyFlags & properties) != properties) continue;
    VkMemoryAllocateInfo allocation = {};
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.allocationSize = requirements.size;
    allocation.memoryTypeIndex = i;
    const VkResult result = vkAllocateMemory(device, &allocation, nullptr, &made.memory);
    if (result != VK_SUCCESS) release(made);
    vulkan(result, "vkAllocateMemory");
  }
  if (made.memory == VK_NULL_HANDLE) {
    release(made);
    throw Failure("this Vulkan device has no memory of the kind that is needed");
  }
  vulkan(vkBindBufferMemory(device, made.buffer, made.memory, 0), "vkBindBufferMemory");
  return made;
}

VulkanBuffer VulkanQueue::allocate_staging() const {
  constexpr VkMemoryPropertyFlags kVisible =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  try {
    return allocate(kStagingBytes,
                    kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);  // host reads are slow otherwise
  } catch (const Failure&) {
    return allocate(kStagingBytes, kVisible);
  }
}

void VulkanQueue::release(VulkanBuffer& buffer) const {
  if (buffer.buffer != VK_NULL_HANDLE) vkDestroyBuffer(device, buffer.buffer, nullptr);
  if (buffer.memory != VK_NULL_HANDLE) vkFreeMemory(device, buffer.memory, nullptr);
  buffer = {};
}

void VulkanQueue::copy(VkBuffer from, std::int64_t from_at, VkBuffer to, std::int64_t to_at,
                       std::int64_t bytes) const {
  VkCommandBuffer buffer = commands();
  begin(buffer);
  const VkBufferCopy region = {static_cast<VkDeviceSize>(from_at), static_cast<VkDeviceSize>(to_at),
                               static_cast<VkDeviceSize>(bytes)};
  vkCmdCopyBuffer(buffer, from, to, 1, &region);
  vulkan(vkEndCommandBuffer(buffer), "vkEndCommandBuffer");
  submit(buffer, false);
  vkFreeCommandBuffers(device, pool, 1, &buffer);
}

void VulkanQueue::write(const VulkanBuffer& to, const void* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t piece = std::min(kStagingBytes, bytes - at);
    std::memcpy(mapped_, static_cast<const char*>(from) + at, static_cast<std::size_t>(piece));
    copy(staging_.buffer, 0, to.buffer, at, piece);
  }
}

void VulkanQueue::read(void* to, const VulkanBuffer& from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t piece = std::min(kStagingBytes, bytes - at);
    copy(from.buffer, at, staging_.buffer, 0, piece);
    std::memcpy(static_cast<char*>(to) + at, mapped_, static_cast<std::size_t>(piece));
  }
}

VkCommandBuffer VulkanQueue::commands() const {
  VkCommandBufferAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer made = VK_NULL_HANDLE;
  vulkan(vkAllocateCommandBuffers(device, &info, &made), "vkAllocateCommandBuffers");
  return made;
}

void VulkanQueue::begin(VkCommandBuffer commands) {
  VkCommandBufferBeginInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  vulkan(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

void VulkanQueue::stamp(VkCommandBuffer commands, unsigned number) const {
  if (stamps_ == VK_NULL_HANDLE) return;
  if (number == 0) vkCmdResetQueryPool(commands, stamps_, 0, 2);
  vkCmdWriteTimestamp(commands,
                      number == 0 ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                      stamps_, number);
}

void VulkanQueue::barrier(VkCommandBuffer commands) {
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier,
                       0, nullptr, 0, nullptr);
}

Sample VulkanQueue::submit(VkCommandBuffer commands, bool stamped) const {
  const Stopwatch watch;
  VkSubmitInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  vulkan(vkQueueSubmit(queue, 1, &info, fence), "vkQueueSubmit");
  Sample sample;
  sample.submit_us = watch.us();
  constexpr std::uint64_t kMinute = 60'000'000'000;
  vulkan(vkWaitForFences(device, 1, &fence, VK_TRUE, kMinute), "vkWaitForFences");
  sample.wall_us = watch.us();
  vulkan(vkResetFences(device, 1, &fence), "vkResetFences");
  if (stamped && stamps_ != VK_NULL_HANDLE) {
    std::uint64_t ticks[2] = {};
    vulkan(vkGetQueryPoolResults(device, stamps_, 0, 2, sizeof ticks, ticks, sizeof ticks[0],
                                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           "vkGetQueryPoolResults");
    sample.device_us = 1e-3 * ns_per_tick_ * static_cast<double>((ticks[1] - ticks[0]) & tick_mask_);
  }
  return sample;
}

}  // namespace sfft::technologies
