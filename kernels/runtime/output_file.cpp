// SPDX-License-Identifier: Apache-2.0
// Writes a file under a locked temporary name in its target's folder, syncs it and renames it. Writes streams
// and descriptors directly.
#include "kernels/runtime/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <random>
#include <utility>

#include "kernels/runtime/output_target.hpp"

namespace sfft::detail {

namespace {

// Temporary files are named ".sfft-PID-RANDOM.tmp". The PID and a lock tell abandoned files from those of
// living writers.
constexpr std::string_view kPrefix = ".sfft-";
constexpr std::string_view kSuffix = ".tmp";
constexpr std::size_t kRandomDigits = 16;

std::string random_name() {
  std::random_device random;
  return fmt::format("{}{}-{:08x}{:08x}{}", kPrefix, ::getpid(), random(), random(), kSuffix);
}

/// The writer's PID in a temporary file's name; 0 for other names.
pid_t writer_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || name.size() - dash - 1 != kRandomDigits) return 0;
  if (name.find_first_not_of("0123456789abcdef", dash + 1) != std::string_view::npos) return 0;
  pid_t pid = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + dash, pid);
  return code == std::errc() && end == name.data() + dash && pid > 0 ? pid : 0;
}

// These locks belong to the open file, not to the process. They end when it is closed, other containers see
// them, and they do not disturb the locks that HDF5 takes on the same file.
struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool locked(int file) {
#ifdef F_OFD_GETLK
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
#else
  return false;
#endif
}

void lock_file(int file) {
#ifdef F_OFD_SETLK
  struct flock lock = whole_file(F_WRLCK);
  static_cast<void>(::fcntl(file, F_OFD_SETLK, &lock));  // if this fails, the PID still tells
#endif
}

void remove_if_abandoned(int folder, const char* name) {
  const pid_t writer = writer_of(name);
  if (writer == 0 || ::kill(writer, 0) == 0 || errno != ESRCH) return;
  const Descriptor file(::openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (status.st_uid == ::geteuid() && !locked(file.get())) ::unlinkat(folder, name, 0);
}

/// Removes files that killed writers left behind. Stops early in a huge folder.
void remove_abandoned(int folder) {
  constexpr int kMaxEntries = 10000;
  Descriptor listed(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listed) return;
  DIR* const entries = ::fdopendir(listed.get());
  if (entries == nullptr) return;
  listed.release();
  for (int i = 0; i < kMaxEntries; ++i) {
    const dirent* const entry = ::readdir(entries);
    if (entry == nullptr) break;
    remove_if_abandoned(folder, entry->d_name);
  }
  ::closedir(entries);
}

bool same_inode(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether written data stay in the file. Devices and sockets may be read and written, or written twice,
/// without losing data.
bool is_kept(const struct stat& status) {
  return S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode);
}

/// Names of files in preparation, stored where a signal handler can read them.
struct Unfinished {
  std::atomic<int> folder{
      -1};  ///< descriptor of the folder once the name is complete; -1: free or being changed
  std::atomic<bool> taken{false};
  char name[64] = {};
};
std::array<Unfinished, 64> unfinished_files;

Unfinished* note_unfinished(int folder, const std::string& name) noexcept {
  for (Unfinished& place : unfinished_files) {
    if (name.size() >= sizeof place.name || place.taken.exchange(true)) continue;
    name.copy(place.name, name.size());
    place.name[name.size()] = '\0';
    place.folder = folder;
    return &place;
  }
  return nullptr;
}

void forget_unfinished(Unfinished* place) noexcept {
  if (place == nullptr) return;
  place->folder = -1;
  place->taken = false;
}

}  // namespace

void remove_unfinished_files() noexcept {
  for (const Unfinished& place : unfinished_files) {
    if (const int folder = place.folder; folder >= 0) ::unlinkat(folder, place.name, 0);
  }
}

struct OutputFile::Impl {
  std::string path;
  OutputTarget target;
  Descriptor file;        ///< the temporary file, or the opened stream
  std::string temporary;  ///< its name in the folder; empty when there is none
  Unfinished* noted = nullptr;

  ~Impl() {
    if (!temporary.empty()) ::unlinkat(target.folder.get(), temporary.c_str(), 0);
    forget_unfinished(noted);
  }

  void prepare() {
    remove_abandoned(target.folder.get());
    // A file that replaces another is private until it takes that file's mode; a new file gets the umask's
    // mode.
    const mode_t mode = target.exists ? S_IRUSR | S_IWUSR : 0666;
    std::string name;
    do {
      name = random_name();
      file = Descriptor(::openat(target.folder.get(), name.c_str(),
                                 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    } while (!file && errno == EEXIST);
    if (!file && (errno == EACCES || errno == EROFS))
      cannot_write(path, "its directory is not writable: give a name elsewhere");
    if (!file) cannot_write(path, errno);
    temporary = std::move(name);
    noted = note_unfinished(target.folder.get(), temporary);
    lock_file(file.get());
    // Report a name that is too long for the file system now, not when the file is renamed.
    struct stat ignored {};
    if (::fstatat(target.folder.get(), target.name.c_str(), &ignored, AT_SYMLINK_NOFOLLOW) != 0 &&
        errno != ENOENT)
      cannot_write(path, errno);
  }

  void open_stream() {
    file = Descriptor(::open(target.opened.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!file) cannot_write(path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) cannot_write(path, errno);
    if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))
      cannot_write(path, "it was a stream when the work began and no longer is");
  }

  void keep_mode_and_owner() {
    struct stat before {};
    if (::fstatat(target.folder.get(), target.name.c_str(), &before, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return;
      cannot_write(path, errno);
    }
    if (!S_ISREG(before.st_mode)) cannot_write(path, "it was a file when the work began and no longer is");
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) cannot_write(path, errno);
    if (status.st_uid != before.st_uid || status.st_gid != before.st_gid) {
      // Only the superuser may give a file away; other users may pass it to one of their groups.
      if (::fchown(file.get(), before.st_uid, before.st_gid) != 0)
        static_cast<void>(!::fchown(file.get(), static_cast<uid_t>(-1), before.st_gid));
    }
    if (::fchmod(file.get(), before.st_mode & 0777) != 0) cannot_write(path, errno);
  }

  void check_still_ours() {
    struct stat named {};
    struct stat opened {};
    if (::fstatat(target.folder.get(), temporary.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        ::fstat(file.get(), &opened) != 0 || !same_inode(named, opened)) {
      cannot_write(path, "another program removed or replaced the file while it was prepared");
    }
  }
};

OutputFile::OutputFile(const std::string& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->target = find_target(path);
  if (kind() == OutputKind::file) impl_->prepare();
}

OutputFile::~OutputFile() = default;

OutputKind OutputFile::kind() const noexcept {
  return impl_->target.kind;
}

const std::string& OutputFile::path() const noexcept {
  return impl_->path;
}

std::string OutputFile::temporary_path() const {
  const std::string& target = impl_->target.opened;
  return target.substr(0, target.size() - impl_->target.name.size()) + impl_->temporary;
}

void OutputFile::write(std::string_view bytes) {
  if (kind() == OutputKind::stream && !impl_->file) impl_->open_stream();
  const int file = kind() == OutputKind::descriptor ? impl_->target.descriptor : impl_->file.get();
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_write(impl_->path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit(bool sync) {
  Impl& impl = *impl_;
  if (kind() != OutputKind::file) return;
  impl.keep_mode_and_owner();
  if (sync && ::fsync(impl.file.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    cannot_write(impl.path, errno);
  impl.check_still_ours();
  const int folder = impl.target.folder.get();
  if (::renameat(folder, impl.temporary.c_str(), folder, impl.target.name.c_str()) != 0)
    cannot_write(impl.path, errno);
  impl.temporary.clear();
  forget_unfinished(std::exchange(impl.noted, nullptr));
  if (sync) static_cast<void>(::fsync(folder));  // the file is complete under either name
}

bool OutputFile::same_as(const OutputFile& other) const noexcept {
  const OutputTarget& a = impl_->target;
  const OutputTarget& b = other.impl_->target;
  if (a.exists && b.exists && same_inode(a.status, b.status))
    return is_kept(a.status) || (a.kind == OutputKind::descriptor && a.descriptor == b.descriptor);
  return a.kind == OutputKind::file && b.kind == OutputKind::file && a.name == b.name &&
         same_inode(a.folder_status, b.folder_status);
}

bool OutputFile::leads_to(const std::string& path) const noexcept {
  struct stat status {};
  return impl_->target.exists && ::stat(path.c_str(), &status) == 0 && is_kept(status) &&
         same_inode(status, impl_->target.status);
}

bool OutputFile::leads_to_descriptor(int descriptor) const noexcept {
  struct stat status {};
  return impl_->target.exists && ::fstat(descriptor, &status) == 0 && is_kept(status) &&
         same_inode(status, impl_->target.status);
}

void write_whole(const std::string& path, std::string_view bytes, bool sync) {
  OutputFile file(path);
  file.write(bytes);
  file.commit(sync);
}

void rewrite_whole(const std::string& path, const std::function<std::string(bool exists)>& make) {
  const OutputTarget target = find_target(path);
  Descriptor
      folder;  // a lock belongs to an open file: each writer opens the folder itself, and closing unlocks
  if (target.kind == OutputKind::file) {
    folder = Descriptor(::openat(target.folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (folder && ::flock(folder.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  write_whole(path, make(target.kind == OutputKind::file && find_target(path).exists));
}

}  // namespace sfft::detail
