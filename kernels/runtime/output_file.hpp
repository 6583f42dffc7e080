// SPDX-License-Identifier: Apache-2.0
// The only writer of files. It checks what a path leads to before the work begins, and replaces regular files
// as a whole.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sfft::detail {

/// What the path of an output leads to, with links followed.
enum class OutputKind : std::uint8_t {
  file,       ///< a regular file, or nothing yet: prepared in the same folder, then renamed
  stream,     ///< a FIFO or a character device: opened and written to
  descriptor  ///< /dev/stdout or /dev/fd/N: written through the descriptor as it was opened
};

/// An output. A regular file appears whole or not at all.
///
/// A file is prepared in its final folder under an unpredictable name, which is created exclusively and
/// locked while its writer lives. commit() gives it the mode and owner of the file it replaces, and renames
/// it. A failure before that leaves the old file untouched. Leftovers of killed writers in the folder are
/// removed.
///
/// Every function throws Error(file_unreadable) with a sentence that names the path; the destructor does not.
class OutputFile {
 public:
  /// Throws if `path` cannot be written: a folder, a read-only file, a full disk. Does not open streams, so
  /// it never waits for the reader of a FIFO.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  OutputKind kind() const noexcept;
  const std::string& path() const noexcept;

  /// The first call opens a stream, and so waits for a FIFO's reader.
  void write(std::string_view bytes);
  /// Syncs a file to disk and renames it into place. Call this once. Without `sync`, a machine that loses
  /// power soon afterwards may leave a file that is not complete.
  void commit(bool sync = true);

  /// Where a regular file is prepared, for libraries that open files themselves.
  std::string temporary_path() const;

  /// Whether both would write the same file, possibly under different names. Two writers may share a device.
  bool same_as(const OutputFile& other) const noexcept;
  /// Whether this would overwrite what the path leads to, possibly under another name.
  bool leads_to(const std::string& path) const noexcept;
  bool leads_to_descriptor(int descriptor) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Removes the files that this process is preparing, at most 64. A signal handler or terminate handler that
/// ends the process calls it. Async-signal-safe.
void remove_unfinished_files() noexcept;

/// Opens, writes and commits a file whose bytes are already in memory; `sync` as for OutputFile::commit().
void write_whole(const std::string& path, std::string_view bytes, bool sync = true);

/// Replaces a file by what `make` returns for it, one writer at a time. From before the call of `make` until
/// the file is in place, other threads and processes that rewrite a file in the same folder wait. The lock is
/// flock(2) on the folder; on file systems without locks, nobody waits. `exists`: the path leads to a regular
/// file.
void rewrite_whole(const std::string& path, const std::function<std::string(bool exists)>& make);

}  // namespace sfft::detail
