// SPDX-License-Identifier: Apache-2.0
// Fuzzes template files: whatever they contain, they are loaded or rejected, and a loaded template can be
// saved, planned (with its kept plans) and used.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_file.hpp"

namespace {

/// CRC-64/XZ, bit by bit, so that changed files get past their checksum.
std::uint64_t crc64(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t crc = ~std::uint64_t{0};
  for (std::size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xC96C5795D7870F42ull : 0);
  }
  return ~crc;
}

void put_crc(std::vector<char>& file, std::size_t first, std::size_t at) {
  const std::uint64_t crc = crc64(reinterpret_cast<const std::uint8_t*>(file.data()) + first, at - first);
  std::memcpy(file.data() + at, &crc, 8);
}

/// Corrects the checksums of a template, of the section after it and of the whole file.
void mend(std::vector<char>& file) {
  constexpr std::size_t kVersionAt = 8, kLengthAt = 12, kSectionHeader = 16;
  const std::size_t last = file.size() - 8;
  std::uint64_t end = 0, contents = 0;
  if (file.size() > 40 && file[kVersionAt] == 2) {
    std::memcpy(&end, file.data() + kLengthAt, 8);
    if (end >= kLengthAt + 16 && end <= last) {
      put_crc(file, 0, end - 8);
      if (last - end >= kSectionHeader + 8) std::memcpy(&contents, file.data() + end + 8, 8);
      if (contents >= 8 && contents <= last - end - kSectionHeader - 8) {
        std::memcpy(file.data() + end + kSectionHeader, file.data() + end - 8, 8);  // its checksum
        put_crc(file, end, end + kSectionHeader + contents);
      }
    }
  }
  put_crc(file, 0, last);
}

void use(const sfft::Template& tmpl) {
  if (tmpl.shape().points() > 4096 || tmpl.k() > 256) return;
  // As the plan in the file requests, so that it is used.
  sfft::PlanOptions options;
  if (!sfft::detail::data_of(tmpl)->plans.empty()) {
    const sfft::detail::PlanKey& key = sfft::detail::data_of(tmpl)->plans[0].key;
    options.accuracy = key.accuracy;
    if (key.max_samples > 0) options.max_samples = key.max_samples;
    options.seed = key.seed;
    options.path = key.path;
  }
  const sfft::Plan<float> plan(tmpl, options);
  auto workspace = plan.make_workspace();
  auto spectrum = plan.make_spectrum();
  const auto points = static_cast<std::size_t>(tmpl.shape().points());
  const std::vector<float> real(points, 1.0F);
  const std::vector<std::complex<float>> complex(points, {1.0F, -1.0F});
  plan.execute(tmpl.domain() == sfft::Domain::real ? sfft::SignalView(real, tmpl.shape())
                                                   : sfft::SignalView(complex, tmpl.shape()),
               spectrum, workspace);
  if (spectrum.values.size() != static_cast<std::size_t>(tmpl.k())) std::abort();
}

/// Does the same through files, as users do.
void save_and_load(const sfft::Template& tmpl) {
  static const std::string path = fmt::format("/tmp/sfft-fuzz-template-{}", ::getpid());
  tmpl.save(path);
  const sfft::Template again = sfft::Template::load(path);
  ::unlink(path.c_str());
  if (again.k() != tmpl.k() || again.shape() != tmpl.shape()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  std::vector<char> file(bytes, bytes + count);
  if (count >= 9 && (bytes[count - 1] & 3) != 0) mend(file);
  try {
    const auto data =
        std::make_shared<sfft::detail::TemplateData>(sfft::detail::parse_template(file, "fuzz"));
    const std::vector<char> saved = sfft::detail::template_bytes(*data);
    if (sfft::detail::template_bytes(sfft::detail::parse_template(saved, "saved")) != saved) std::abort();
    // Plans and files take a thousand times as long, so one input in 128 tests them, chosen by the file's
    // contents.
    const auto chosen = std::hash<std::string_view>()({file.data(), file.size()}) % 256;
    if (chosen == 0) use(sfft::detail::make_template(data));
    if (chosen == 1) save_and_load(sfft::detail::make_template(data));
  } catch (const sfft::Error&) {
  }
  return 0;
}
