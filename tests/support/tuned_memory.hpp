// SPDX-License-Identifier: Apache-2.0
// Memory of the tuned engine's interpreter. It records which line touched each element, and refuses accesses
// whose result on a GPU would depend on timing.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sfft::test {

/// A line of a launch. Launches of a phase are ordered within a stream only; phases are ordered.
struct LineAccess {
  int phase = -1, stream = 0, kernel = -1, launch = -1;
  std::int64_t line = -1;
};

/// One array of complex values, or of real samples in their real parts. Throws std::logic_error for elements
/// that do not exist, that are read before they are written, or whose value depends on the order of lines
/// that run at the same time.
class TunedMemory {
 public:
  /// NaN stands for what nothing has written yet.
  static constexpr double kPoison = std::numeric_limits<double>::quiet_NaN();

  TunedMemory(std::string name, std::vector<std::complex<double>> values)
      : name_(std::move(name)), values_(std::move(values)), cells_(values_.size()) {}
  TunedMemory(std::string name, std::int64_t count)
      : TunedMemory(std::move(name),
                    std::vector<std::complex<double>>(static_cast<std::size_t>(count), kPoison)) {}

  std::complex<double> read(std::int64_t at, const LineAccess& by) {
    Cell& cell = this->cell(at, "reads");
    const std::complex<double> value = values_[static_cast<std::size_t>(at)];
    if (std::isnan(value.real()) || std::isnan(value.imag())) fail(at, "is read before it is written", by);
    if (cell.writer.launch == by.launch && cell.writer.line != by.line)
      fail(at, "is read by one line and written by another of the same launch", by);
    if (concurrent(cell.writer, by)) fail(at, "is written by another stream than reads it", by);
    if (cell.reader.launch == by.launch && cell.reader.line != by.line) cell.many_readers = true;
    if (cell.reader.launch != by.launch) cell.many_readers = false;
    if (cell.reader.phase != by.phase) cell.reader_streams = 0;
    cell.reader_streams |= 1u << by.stream;
    cell.reader = by;
    return value;
  }

  /// With `once`, each kernel may write the element only once. With `repeats`, lines of one launch may write
  /// the same value again.
  void write(std::int64_t at, std::complex<double> value, const LineAccess& by, bool once, bool repeats) {
    Cell& cell = this->cell(at, "writes");
    if (cell.reader.launch == by.launch && (cell.many_readers || cell.reader.line != by.line))
      fail(at, "is written by one line and read by another of the same launch", by);
    if (cell.reader.phase == by.phase && (cell.reader_streams & ~(1u << by.stream)) != 0)
      fail(at, "is read by another stream than writes it", by);
    if (concurrent(cell.writer, by)) fail(at, "is written by two streams", by);
    const bool again = cell.writer.launch == by.launch || (once && cell.writer.kernel == by.kernel);
    std::complex<double>& old = values_[static_cast<std::size_t>(at)];
    if (again && !(repeats && std::abs(old - value) <= 1e-9 * (1 + std::abs(value))))
      fail(at, "is written twice by one kernel", by);
    old = value;
    cell.writer = by;
  }

  const std::vector<std::complex<double>>& values() const { return values_; }
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  /// The kernel of the last write; −1 if nothing has written the element.
  int kernel_that_wrote(std::int64_t at) const { return cells_[static_cast<std::size_t>(at)].writer.kernel; }

 private:
  struct Cell {
    LineAccess writer, reader;
    bool many_readers = false;
    unsigned reader_streams = 0;
  };

  static bool concurrent(const LineAccess& writer, const LineAccess& by) {
    return writer.phase == by.phase && writer.stream != by.stream;
  }
  Cell& cell(std::int64_t at, const char* does) {
    if (at < 0 || at >= size()) {
      throw std::logic_error(
          fmt::format("a kernel {} element {} of the {}, which has {}", does, at, name_, size()));
    }
    return cells_[static_cast<std::size_t>(at)];
  }
  [[noreturn]] void fail(std::int64_t at, const char* what, const LineAccess& by) const {
    throw std::logic_error(fmt::format("element {} of the {} {} (kernel {}, launch {}, line {})", at, name_,
                                       what, by.kernel, by.launch, by.line));
  }

  std::string name_;
  std::vector<std::complex<double>> values_;
  std::vector<Cell> cells_;
};

}  // namespace sfft::test
