// SPDX-License-Identifier: Apache-2.0
// Writes the fields one after another with a CRC-64 behind them. Reading verifies the magic number and the
// checksum before it parses, then every count, index and power, so that no damaged file reaches a plan.
#include "template/data/template_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernels/base/error.hpp"
#include "kernels/base/output_file.hpp"

namespace sfft::detail {

namespace {

static_assert(std::endian::native == std::endian::little,
              "template files are written in native little-endian order");

constexpr std::array<char, 8> kMagic{'S', 'F', 'F', 'T', 'T', 'M', 'P', 'L'};
constexpr std::uint32_t kVersion = 1;
enum Flag : std::uint32_t { kReal = 1, kLearned = 2, kChangeMeasured = 4, kReference = 8, kKnownFlags = 15 };

/// CRC-64/XZ (ECMA-182, reflected): finds every burst of up to 64 bits, so every single flipped bit.
std::uint64_t crc64(const char* bytes, std::size_t count) {
  static const auto table = [] {
    std::array<std::uint64_t, 256> entries{};
    for (std::uint64_t i = 0; i < 256; ++i) {
      std::uint64_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xC96C5795D7870F42ull : 0);
      entries[i] = value;
    }
    return entries;
  }();
  std::uint64_t crc = ~std::uint64_t{0};
  for (std::size_t i = 0; i < count; ++i) {
    crc = table[(crc ^ static_cast<unsigned char>(bytes[i])) & 0xFF] ^ (crc >> 8);
  }
  return ~crc;
}

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    put_array(&value, 1);
  }
  template <class T>
  void put_array(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const char*>(values);
    bytes_.insert(bytes_.end(), bytes, bytes + count * sizeof(T));
  }
  std::vector<char>& bytes() { return bytes_; }

 private:
  std::vector<char> bytes_;
};

class Reader {
 public:
  Reader(const char* bytes, std::size_t count, const std::string& path)
      : at_(bytes), end_(bytes + count), path_(path) {}
  [[noreturn]] void corrupt(const std::string& why) const {
    throw Error(ErrorCode::file_corrupt, fmt::format("template file '{}' is damaged: {}", path_, why));
  }
  template <class T>
  T get() {
    T value;
    get_array(&value, 1);
    return value;
  }
  template <class T>
  void get_array(T* values, std::size_t count) {
    if (count > static_cast<std::size_t>(end_ - at_) / sizeof(T)) corrupt("it ends early");
    if (count == 0) return;  // an empty vector has no memory to copy to
    std::memcpy(values, at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }
  template <class T>
  std::vector<T> get_vector(std::uint64_t count) {
    if (count > static_cast<std::size_t>(end_ - at_) / sizeof(T)) corrupt("it ends early");
    std::vector<T> values(count);
    get_array(values.data(), values.size());
    return values;
  }
  bool at_end() const { return at_ == end_; }

 private:
  const char* at_;
  const char* end_;
  const std::string& path_;
};

std::vector<char> read_all(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  // A device may never end, and opening a pipe waits for its writer.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error(ErrorCode::file_unreadable,
                fmt::format("'{}' is a directory or a device, not a template file", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::file_unreadable, fmt::format("cannot open template file '{}'", path));
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad())
    throw Error(ErrorCode::file_unreadable, fmt::format("cannot read template file '{}'", path));
  return bytes;
}

void read_learned(Reader& reader, TemplateData& data) {
  const auto k = static_cast<std::uint64_t>(data.k());
  data.values = reader.get_vector<std::complex<double>>(k);
  data.power = reader.get_vector<double>(k);
  const auto cells = reader.get<std::uint64_t>();
  if (cells != CellGrid(data.shape).cells()) reader.corrupt("its envelope does not fit its shape");
  data.tail_envelope.power = reader.get_vector<double>(cells);
  data.change_envelope.power = reader.get_vector<double>(cells);
  const auto bad_power = [](double p) { return !(p >= 0) || !std::isfinite(p); };
  for (const auto* powers : {&data.power, &data.tail_envelope.power, &data.change_envelope.power}) {
    if (std::any_of(powers->begin(), powers->end(), bad_power))
      reader.corrupt("a power is negative or not finite");
  }
  if (bad_power(data.tail_energy)) reader.corrupt("its tail energy is negative or not finite");
}

void read_reference(Reader& reader, TemplateData& data) {
  const auto type = reader.get<std::uint32_t>();
  if (type > static_cast<std::uint32_t>(ElementType::c128)) reader.corrupt("unknown element type");
  data.reference_type = static_cast<ElementType>(type);
  if (is_complex(data.reference_type) == data.real)
    reader.corrupt("the reference's type contradicts the template");
  const auto bytes = reader.get<std::uint64_t>();
  if (bytes / element_bytes(data.reference_type) != static_cast<std::uint64_t>(data.shape.points()) ||
      bytes % element_bytes(data.reference_type) != 0) {
    reader.corrupt("the reference does not fit its shape");
  }
  data.reference = reader.get_vector<std::byte>(bytes);
}

}  // namespace

TemplateData read_template(const std::string& path) {
  return parse_template(read_all(path), path);
}

TemplateData parse_template(std::span<const char> bytes, const std::string& path) {
  if (bytes.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
    throw Error(ErrorCode::file_corrupt, fmt::format("'{}' is not an sfft template file", path));
  }
  if (bytes.size() < kMagic.size() + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t)) {
    throw Error(ErrorCode::file_corrupt, fmt::format("template file '{}' is damaged: it ends early", path));
  }
  const std::size_t payload = bytes.size() - sizeof(std::uint64_t);
  std::uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + payload, sizeof stored);
  Reader reader(bytes.data(), payload, path);
  if (crc64(bytes.data(), payload) != stored) reader.corrupt("its checksum does not match");

  reader.get<std::array<char, 8>>();
  const auto version = reader.get<std::uint32_t>();
  if (version != kVersion) {
    throw Error(ErrorCode::file_version,
                fmt::format("template file '{}' has format version {}, this library reads {}", path, version,
                            kVersion));
  }
  const auto flags = reader.get<std::uint32_t>();
  if ((flags & ~kKnownFlags) != 0) reader.corrupt("unknown flags");
  const auto rank = reader.get<std::uint32_t>();
  if (rank < 1 || rank > 3) reader.corrupt("impossible rank");
  TemplateData data;
  std::array<std::int64_t, 3> extents{};
  reader.get_array(extents.data(), rank);
  try {
    data.shape = Shape(std::span<const std::int64_t>(extents.data(), rank));
    data.real = (flags & kReal) != 0;
    auto support = reader.get_vector<std::int64_t>(reader.get<std::uint64_t>());
    if (!std::is_sorted(support.begin(), support.end())) reader.corrupt("its support is not in order");
    check_support(data.shape, data.real, support);
    data.support = std::make_shared<const std::vector<std::int64_t>>(std::move(support));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::file_corrupt) throw;
    reader.corrupt(error.what());
  }
  data.energy_captured = reader.get<double>();
  data.tail_energy = reader.get<double>();
  data.change_measured = (flags & kChangeMeasured) != 0;
  if ((flags & kLearned) != 0) read_learned(reader, data);
  if ((flags & kReference) != 0) read_reference(reader, data);
  if (!reader.at_end()) reader.corrupt("there is more in it than its header says");
  return data;
}

void write_template(const TemplateData& data, const std::string& path) {
  const std::vector<char> bytes = template_bytes(data);
  write_whole(path, {bytes.data(), bytes.size()});
}

std::vector<char> template_bytes(const TemplateData& data) {
  Writer writer;
  writer.put(kMagic);
  writer.put(kVersion);
  const bool learned = !data.values.empty();
  const bool reference = !data.reference.empty();
  writer.put((data.real ? kReal : 0u) | (learned ? kLearned : 0u) |
             (data.change_measured ? kChangeMeasured : 0u) | (reference ? kReference : 0u));
  writer.put(static_cast<std::uint32_t>(data.shape.rank()));
  writer.put_array(data.shape.extents().data(), data.shape.extents().size());
  writer.put(static_cast<std::uint64_t>(data.k()));
  writer.put_array(data.support->data(), data.support->size());
  writer.put(data.energy_captured);
  writer.put(data.tail_energy);
  if (learned) {
    writer.put_array(data.values.data(), data.values.size());
    writer.put_array(data.power.data(), data.power.size());
    writer.put(static_cast<std::uint64_t>(data.tail_envelope.power.size()));
    writer.put_array(data.tail_envelope.power.data(), data.tail_envelope.power.size());
    writer.put_array(data.change_envelope.power.data(), data.change_envelope.power.size());
  }
  if (reference) {
    writer.put(static_cast<std::uint32_t>(data.reference_type));
    writer.put(static_cast<std::uint64_t>(data.reference.size()));
    writer.put_array(data.reference.data(), data.reference.size());
  }
  writer.put(crc64(writer.bytes().data(), writer.bytes().size()));
  return writer.bytes();
}

}  // namespace sfft::detail
