// SPDX-License-Identifier: Apache-2.0
// Names statuses with one table for both directions, and classifies exceptions.
#include "video/sources/run_status.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "sfft/error.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

namespace {

constexpr std::array kNames{"complete",    "not_read", "input_damaged",
                            "interrupted", "failed",   "out_of_resources"};

/// Leaves out the message if there is no memory for it.
std::pair<RunStatus, std::string> told(RunStatus status, const std::exception& error) noexcept {
  try {
    return {status, error.what()};
  } catch (const std::exception&) {
    return {status, {}};
  }
}

}  // namespace

const char* to_string(RunStatus status) noexcept {
  return kNames[static_cast<std::size_t>(status)];
}

std::optional<RunStatus> run_status_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<RunStatus>(found - kNames.begin());
}

std::pair<RunStatus, std::string> thrown_status() noexcept {
  try {
    throw;
  } catch (const InputError& error) {
    return told(RunStatus::input_damaged, error);
  } catch (const Error& error) {
    return told(error.code() == ErrorCode::shape_mismatch ? RunStatus::input_damaged : RunStatus::failed,
                error);
  } catch (const std::bad_alloc&) {
    return {RunStatus::out_of_resources, "out of memory"};  // short enough not to allocate
  } catch (const std::filesystem::filesystem_error& error) {
    return told(RunStatus::failed, error);
  } catch (const std::system_error& error) {  // no thread could be started
    return told(RunStatus::out_of_resources, error);
  } catch (const std::exception& error) {
    return told(RunStatus::failed, error);
  }
}

}  // namespace sfft::video
