// SPDX-License-Identifier: Apache-2.0
// Forks a process that writes the HDF5 file. Supports and rows are sent to it through a socket pair; it has a
// copy of all arrays.
#include "video/report/hdf5_file.hpp"

#include "sfft/error.hpp"

#if SFFT_HAVE_HDF5

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace sfft::video {

bool has_hdf5() noexcept {
  return true;
}

namespace {

/// A message to the writing process is a header, followed by as many bytes as the header says.
enum class Kind : std::uint64_t { support, row, end };
struct Header {
  Kind kind;
  std::uint64_t bytes;
};
struct Errors {
  double l2, relative;
};
struct Extent {
  std::int64_t height, width;
};
constexpr char kFine = 0;  ///< the file is open or finished; anything else starts an error message

/// One end of a pair of sockets.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void close() noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  void take(int descriptor) noexcept {
    close();
    descriptor_ = descriptor;
  }
  int descriptor() const noexcept { return descriptor_; }

  bool send(const void* data, std::size_t bytes) noexcept {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t sent = ::send(descriptor_, at, bytes, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
    return true;
  }
  bool receive(void* data, std::size_t bytes) noexcept {
    char* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t got = ::recv(descriptor_, at, bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int descriptor_;
};

/// Writes what it receives until the other side closes the socket or sends `end`.
void serve(Socket& socket, const std::string& path) {
  Hdf5Writer writer(path);
  socket.send(&kFine, 1);
  std::vector<std::byte> content;
  Header header{};
  while (socket.receive(&header, sizeof header)) {
    content.resize(header.bytes);
    if (!socket.receive(content.data(), content.size())) return;
    switch (header.kind) {
      case Kind::support:
        writer.add_support(
            {reinterpret_cast<const std::int64_t*>(content.data()), content.size() / sizeof(std::int64_t)});
        break;
      case Kind::row: {
        Errors errors{};
        std::memcpy(&errors, content.data(), sizeof errors);
        writer.add_row({reinterpret_cast<const std::complex<float>*>(content.data() + sizeof errors),
                        (content.size() - sizeof errors) / sizeof(std::complex<float>)},
                       errors.l2, errors.relative);
        break;
      }
      case Kind::end: {
        Extent extent{};
        std::memcpy(&extent, content.data(), sizeof extent);
        writer.set_shape(extent.height, extent.width);
        writer.finish();
        socket.send(&kFine, 1);
        return;
      }
    }
  }
}

/// Closes inherited files, so that only the parent keeps them open and their locks end with it.
void close_all_but(int kept) noexcept {
  const long max = std::min(::sysconf(_SC_OPEN_MAX), 4096L);
  for (int descriptor = STDERR_FILENO + 1; descriptor < max; ++descriptor) {
    if (descriptor != kept) ::close(descriptor);
  }
}

/// Runs in the writing process, which exits here without clean-up.
template <class Work>
[[noreturn]] void live(Socket& socket, const Work& work) {
  close_all_but(socket.descriptor());
  try {
    work();
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kShort = "out of memory";
    socket.send(kShort.data(), kShort.size());
  } catch (const std::exception& error) {
    socket.send(error.what(), std::strlen(error.what()));
  }
  std::_Exit(0);
}

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorCode::file_unreadable, message);
}

/// A process that writes a file, so that a failure loses only this file: see Hdf5Writer.
class WriterProcess {
 public:
  /// The process calls work(socket, path of the file).
  template <class Work>
  WriterProcess(const detail::OutputFile& output, const Work& work) : output_(output), socket_(-1) {
    const std::string path = output.temporary_path();
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail_to_start();
    socket_.take(ends[0]);
    Socket other(ends[1]);
    process_ = ::fork();
    if (process_ < 0) fail_to_start();
    if (process_ == 0) live(other, [&] { work(other, path); });
  }
  ~WriterProcess() {
    socket_.close();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  WriterProcess(const WriterProcess&) = delete;
  WriterProcess& operator=(const WriterProcess&) = delete;

  bool send(const void* data, std::size_t bytes) noexcept { return socket_.send(data, bytes); }

  /// Waits for the next answer. Throws Error if it is an error message, or if there is none.
  void expect_fine() {
    std::string answer(1, '?');
    if (!socket_.receive(answer.data(), 1)) {
      fail(fmt::format("cannot write '{}': the process that writes it crashed: is there enough memory?",
                       output_.path()));
    }
    if (answer[0] == kFine) return;
    for (char c = 0; answer.size() < 1000 && socket_.receive(&c, 1);) answer += c;
    fail(answer);
  }

 private:
  [[noreturn]] void fail_to_start() const {
    fail(fmt::format("cannot write '{}': no process can be started for it: {}", output_.path(),
                     std::strerror(errno)));
  }

  const detail::OutputFile& output_;
  Socket socket_;
  pid_t process_ = -1;
};

const detail::OutputFile& regular(const detail::OutputFile& output, const char* needs) {
  if (output.kind() != detail::OutputKind::file)
    fail(fmt::format("cannot write '{}': {} a regular file, not a stream", output.path(), needs));
  return output;
}

class IsolatedSpectra final : public SpectraFile {
 public:
  explicit IsolatedSpectra(detail::OutputFile& output)
      : output_(output), process_(regular(output, "spectra need"), serve) {
    process_.expect_fine();
  }

  void write(std::int64_t, const Spectrum<float>& spectrum) override {
    if (support_ != nullptr && spectrum.values.size() != k_) {
      fail("the number of frequencies changed while relearning: use --k with --spectra");
    }
    if (spectrum.support.get() != support_) {
      k_ = spectrum.values.size();
      support_ = spectrum.support.get();
      tell(Kind::support, spectrum.support->data(), spectrum.support->size() * sizeof(std::int64_t));
    }
    const Errors errors{spectrum.quality.error_l2, spectrum.quality.relative_error};
    const std::size_t bytes = k_ * sizeof(std::complex<float>);
    row_.resize(sizeof errors + bytes);
    std::memcpy(row_.data(), &errors, sizeof errors);
    std::memcpy(row_.data() + sizeof errors, spectrum.values.data(), bytes);
    tell(Kind::row, row_.data(), row_.size());
  }

  void commit(const SourceInfo& input) override {
    const Extent extent{input.height, input.width};
    tell(Kind::end, &extent, sizeof extent);
    process_.expect_fine();
    output_.commit();
  }

 private:
  void tell(Kind kind, const void* content, std::size_t bytes) {
    const Header header{kind, bytes};
    if (!process_.send(&header, sizeof header) || !process_.send(content, bytes)) process_.expect_fine();
  }

  detail::OutputFile& output_;
  WriterProcess process_;
  const void* support_ = nullptr;
  std::size_t k_ = 0;
  std::vector<std::byte> row_;
};

}  // namespace

std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile& output) {
  return std::make_unique<IsolatedSpectra>(output);
}

void check_arrays_output(const detail::OutputFile& output) {
  regular(output, "HDF5 needs");
}

void write_arrays(detail::OutputFile& output, std::span<const NamedArray> arrays) {
  check_arrays_output(output);
  WriterProcess process(output, [arrays](Socket& socket, const std::string& path) {
    Hdf5Writer writer(path);
    for (const NamedArray& array : arrays) writer.add_array(array);
    writer.finish();
    socket.send(&kFine, 1);
  });
  process.expect_fine();
  output.commit();
}

}  // namespace sfft::video

#else

namespace sfft::video {

bool has_hdf5() noexcept {
  return false;
}

std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile&) {
  throw Error(ErrorCode::backend_unavailable,
              "--spectra needs HDF5, which this build lacks: install libhdf5-dev and build again");
}

void check_arrays_output(const detail::OutputFile&) {
  throw Error(ErrorCode::backend_unavailable,
              "--hdf5 needs HDF5, which this build lacks: install libhdf5-dev and build again");
}

void write_arrays(detail::OutputFile& output, std::span<const NamedArray>) {
  check_arrays_output(output);
}

}  // namespace sfft::video

#endif
