// SPDX-License-Identifier: Apache-2.0
// Writes the fields one after another, followed by a CRC-64. Reading verifies the magic number and the
// checksum before it parses, then every count, index and power, so that no damaged file reaches a plan.
// Damage after the template does not affect the template.
#include "template/data/template_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "kernels/runtime/output_file.hpp"
#include "sfft/error.hpp"
#include "template/data/file_bytes.hpp"

namespace sfft::detail {

namespace {

static_assert(std::endian::native == std::endian::little,
              "template files are written in native little-endian order");

constexpr std::array<char, 8> kMagic{'S', 'F', 'F', 'T', 'T', 'M', 'P', 'L'};
/// Version 2 is version 1 with the template's length in the header and sections at the end.
constexpr std::uint32_t kVersion = 1, kVersionWithSections = 2;
constexpr std::size_t kVersionAt = kMagic.size(), kLengthAt = kVersionAt + sizeof(std::uint32_t);
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);
enum Flag : std::uint32_t { kReal = 1, kLearned = 2, kChangeMeasured = 4, kReference = 8, kKnownFlags = 15 };

std::vector<char> read_all(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  // A device may never end, and opening a pipe waits for its writer.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error(ErrorCode::file_unreadable,
                fmt::format("'{}' is a directory or a device, not a template file", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::file_unreadable, fmt::format("cannot open template file '{}'", path));
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  std::vector<char> bytes;
  while (file) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kAtOnce);
    file.read(bytes.data() + before, kAtOnce);
    bytes.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad())
    throw Error(ErrorCode::file_unreadable, fmt::format("cannot read template file '{}'", path));
  return bytes;
}

void read_learned(ByteReader& reader, TemplateData& data) {
  const auto k = static_cast<std::uint64_t>(data.k());
  data.values = reader.get_vector<std::complex<double>>(k);
  data.power = reader.get_vector<double>(k);
  const auto cells = reader.get<std::uint64_t>();
  if (cells != CellGrid(data.shape).cells()) reader.damaged("its envelope does not fit its shape");
  data.tail_envelope.power = reader.get_vector<double>(cells);
  data.change_envelope.power = reader.get_vector<double>(cells);
  const auto bad_power = [](double p) { return !(p >= 0) || !std::isfinite(p); };
  for (const auto* powers : {&data.power, &data.tail_envelope.power, &data.change_envelope.power}) {
    if (std::any_of(powers->begin(), powers->end(), bad_power))
      reader.damaged("a power is negative or not finite");
  }
  if (bad_power(data.tail_energy)) reader.damaged("its tail energy is negative or not finite");
}

void read_reference(ByteReader& reader, TemplateData& data) {
  const auto type = reader.get<std::uint32_t>();
  if (type > static_cast<std::uint32_t>(ElementType::cu8)) reader.damaged("unknown element type");
  data.reference_type = static_cast<ElementType>(type);
  if (is_complex(data.reference_type) == data.real)
    reader.damaged("the reference's type contradicts the template");
  const auto bytes = reader.get<std::uint64_t>();
  if (bytes / element_bytes(data.reference_type) != static_cast<std::uint64_t>(data.shape.points()) ||
      bytes % element_bytes(data.reference_type) != 0) {
    reader.damaged("the reference does not fit its shape");
  }
  data.reference = reader.get_vector<std::byte, CountedAllocator<std::byte>>(bytes);
}

/// Reads the number at an offset known to be within the file.
template <class T>
T number_at(std::span<const char> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The template itself: flags, shape, support and what was learned. Its last field is its checksum.
TemplateData read_fields(ByteReader& reader) {
  const auto flags = reader.get<std::uint32_t>();
  if ((flags & ~kKnownFlags) != 0) reader.damaged("unknown flags");
  const auto rank = reader.get<std::uint32_t>();
  if (rank < 1 || rank > 3) reader.damaged("impossible rank");
  TemplateData data;
  std::array<std::int64_t, 3> extents{};
  reader.get_array(extents.data(), rank);
  try {
    data.shape = Shape(std::span<const std::int64_t>(extents.data(), rank));
    data.real = (flags & kReal) != 0;
    auto support = reader.get_vector<std::int64_t>(reader.get<std::uint64_t>());
    if (!std::is_sorted(support.begin(), support.end())) reader.damaged("its support is not in order");
    check_support(data.shape, data.real, support);
    data.support = std::make_shared<const std::vector<std::int64_t>>(std::move(support));
  } catch (const Error& error) {
    reader.damaged(error.what());
  }
  data.energy_captured = reader.get<double>();
  data.tail_energy = reader.get<double>();
  data.change_measured = (flags & kChangeMeasured) != 0;
  if ((flags & kLearned) != 0) read_learned(reader, data);
  if ((flags & kReference) != 0) read_reference(reader, data);
  if (!reader.at_end()) reader.damaged("there is more in it than its header says");
  return data;
}

/// The end of the template, after its checksum, where sections begin.
std::size_t template_end(std::span<const char> bytes) {
  if (number_at<std::uint32_t>(bytes, kVersionAt) != kVersionWithSections) return bytes.size();
  if (bytes.size() < kLengthAt + 2 * kChecksumBytes) ByteReader::damaged("it ends early");
  const auto end = number_at<std::uint64_t>(bytes, kLengthAt);
  if (end > bytes.size() || end < kLengthAt + 2 * kChecksumBytes)
    ByteReader::damaged("its checksum does not match");
  return end;
}

TemplateData read_checked(std::span<const char> bytes, const std::string& path) {
  if (bytes.size() < kLengthAt + sizeof(std::uint32_t) + kChecksumBytes) ByteReader::damaged("it ends early");
  const std::size_t end = template_end(bytes);
  Checksum checksum;
  checksum.add(bytes.data(), end - kChecksumBytes);
  const std::uint64_t own = checksum.value();
  if (own != number_at<std::uint64_t>(bytes, end - kChecksumBytes))
    ByteReader::damaged("its checksum does not match");
  const auto version = number_at<std::uint32_t>(bytes, kVersionAt);
  if (version != kVersion && version != kVersionWithSections) {
    throw Error(ErrorCode::file_version,
                fmt::format("template file '{}' has format version {}, this library reads {} and {}", path,
                            version, kVersion, kVersionWithSections));
  }
  const bool sections = version == kVersionWithSections;
  const std::size_t first = kLengthAt + (sections ? sizeof(std::uint64_t) : 0);
  ByteReader reader(bytes.data() + first, end - kChecksumBytes - first);
  TemplateData data = read_fields(reader);
  if (!sections) return data;
  if (bytes.size() < end + kChecksumBytes) {
    data.plans_problem = "the file ends before its plans do";
    return data;
  }
  const std::size_t all = bytes.size() - kChecksumBytes;
  read_sections(bytes.subspan(end, all - end), own, data);
  checksum.add(bytes.data() + end - kChecksumBytes, all - (end - kChecksumBytes));
  if (checksum.value() != number_at<std::uint64_t>(bytes, all)) {
    data.plans.clear();
    if (data.plans_problem.empty()) data.plans_problem = "the checksum of the whole file does not match";
  }
  return data;
}

}  // namespace

TemplateData read_template(const std::string& path) {
  return parse_template(read_all(path), path);
}

TemplateData parse_template(std::span<const char> bytes, const std::string& path) {
  if (bytes.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
    throw Error(ErrorCode::file_corrupt, fmt::format("'{}' is not an sfft template file", path));
  }
  try {
    return read_checked(bytes, path);
  } catch (const DamagedBytes& damage) {
    throw Error(ErrorCode::file_corrupt, fmt::format("template file '{}' is damaged: {}", path, damage.why));
  }
}

void write_template(const TemplateData& data, const std::string& path) {
  const std::vector<char> bytes = template_bytes(data);
  write_whole(path, {bytes.data(), bytes.size()});
}

std::vector<char> template_bytes(const TemplateData& data) {
  ByteWriter writer;
  writer.put(kMagic);
  // Older libraries can read a file without plans.
  writer.put(data.plans.empty() ? kVersion : kVersionWithSections);
  if (!data.plans.empty()) writer.put(std::uint64_t{0});  // the length, filled in later
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
  std::vector<char>& bytes = writer.bytes();
  if (!data.plans.empty()) {
    const std::uint64_t end = bytes.size() + kChecksumBytes;
    std::memcpy(bytes.data() + kLengthAt, &end, sizeof end);
  }
  writer.put_checksum();
  if (!data.plans.empty()) {
    put_plans(writer, data, number_at<std::uint64_t>(bytes, bytes.size() - kChecksumBytes));
    writer.put_checksum();
  }
  return std::move(bytes);
}

}  // namespace sfft::detail
