// SPDX-License-Identifier: Apache-2.0
// Small files in a folder of the user, for results that take long to compute: compiled kernels, and which
// engine was fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sfft::detail {

/// A cache on disk, shared by all processes of a user. Each value is one file, which appears whole or not at
/// all, with its key and a checksum. Files that are damaged, that belong to another user or that others may
/// write are ignored. A folder that cannot be read or written costs time only. Thread-safe.
class UserCache {
 public:
  /// An empty name turns the cache off. The folder is created when the first value is stored.
  explicit UserCache(std::string folder) : folder_(std::move(folder)) {}

  /// The cache of the process: the folder that set_global() named, otherwise what the environment says at the
  /// first call. SFFT_CACHE names a folder; "off", or nothing, turns the cache off. If it is not set:
  /// $XDG_CACHE_HOME/sfft or $HOME/.cache/sfft.
  static std::shared_ptr<const UserCache> global();
  static void set_global(const std::string& folder);

  const std::string& folder() const noexcept { return folder_; }
  bool enabled() const noexcept { return !folder_.empty(); }

  /// The value that was stored with the same kind and key.
  std::optional<std::string> find(std::string_view kind, std::string_view key) const;
  /// Replaces the value. `kind` becomes a folder's name. Now and then removes the oldest files, so that all
  /// together have at most kMaxBytes.
  void store(std::string_view kind, std::string_view key, std::string_view value) const;

  static constexpr std::size_t kMaxValueBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20, kMaxFiles = 4096;

 private:
  std::string path_of(std::string_view kind, std::string_view key) const;

  std::string folder_;
};

/// FNV-1a with 64 bits.
std::uint64_t hash_of(std::string_view bytes) noexcept;

}  // namespace sfft::detail
