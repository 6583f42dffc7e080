// SPDX-License-Identifier: Apache-2.0
// Tests the template file: what is saved can be loaded, and no damaged file is accepted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/template.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/throws.hpp"

namespace sfft::template_file_test {
namespace {

namespace fs = std::filesystem;
using test::code_of;

class TemplateFile : public testing::Test {
 protected:
  TemplateFile() { fs::create_directories(folder_); }
  ~TemplateFile() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  fs::path folder_ = fs::temp_directory_path() / ("sfft-template-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "a.sfft").string();
};

Template small_template(bool reference) {
  const auto frame = test::film_frame(6, 8, 0);
  return learn(SignalView(frame, Shape{6, 8}), {.keep = Largest{4}, .reference = reference});
}

TEST_F(TemplateFile, RoundTripKeepsEverything) {
  for (const bool reference : {false, true}) {
    const Template before = small_template(reference);
    before.save(path_);
    const Template after = Template::load(path_);
    EXPECT_EQ(after.shape(), before.shape());
    EXPECT_EQ(after.domain(), before.domain());
    EXPECT_TRUE(std::equal(before.support().begin(), before.support().end(), after.support().begin(),
                           after.support().end()));
    EXPECT_TRUE(std::equal(before.values().begin(), before.values().end(), after.values().begin(),
                           after.values().end()));
    EXPECT_EQ(after.energy_captured(), before.energy_captured());
    EXPECT_EQ(after.has_reference(), reference);
    EXPECT_EQ(detail::data_of(after)->reference, detail::data_of(before)->reference);
    EXPECT_EQ(detail::data_of(after)->tail_envelope.power, detail::data_of(before)->tail_envelope.power);
    EXPECT_EQ(detail::data_of(after)->change_envelope.power, detail::data_of(before)->change_envelope.power);
  }
  const std::vector<std::int64_t> support{1, 5, 9};
  Template::from_support(Shape{10}, Domain::complex, support).save(path_);
  EXPECT_TRUE(std::isnan(Template::load(path_).energy_captured()));
}

TEST_F(TemplateFile, EverySingleBitFlipIsRejected) {
  small_template(true).save(path_);
  const std::string good = read(path_);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    write(path_, bad);
    EXPECT_EQ(code_of([&] { Template::load(path_); }), ErrorCode::file_corrupt) << "bit " << bit;
  }
}

TEST_F(TemplateFile, EveryTruncationAndExtensionIsRejected) {
  small_template(true).save(path_);
  const std::string good = read(path_);
  for (std::size_t size = 0; size < good.size(); ++size) {
    write(path_, good.substr(0, size));
    EXPECT_EQ(code_of([&] { Template::load(path_); }), ErrorCode::file_corrupt) << "size " << size;
  }
  write(path_, good + '\0');
  EXPECT_EQ(code_of([&] { Template::load(path_); }), ErrorCode::file_corrupt);
}

TEST_F(TemplateFile, ForeignMissingAndUnwritableFiles) {
  write(path_, "\x89PNG not a template at all, just some bytes");
  EXPECT_EQ(code_of([&] { Template::load(path_); }), ErrorCode::file_corrupt);
  EXPECT_EQ(code_of([&] { Template::load((folder_ / "none").string()); }), ErrorCode::file_unreadable);
  EXPECT_EQ(code_of([&] { Template::load(folder_.string()); }), ErrorCode::file_unreadable);
  EXPECT_EQ(code_of([&] { Template::load("/dev/zero"); }), ErrorCode::file_unreadable) << "it never ends";
  EXPECT_EQ(code_of([&] { small_template(false).save((folder_ / "no" / "where").string()); }),
            ErrorCode::file_unreadable);
}

TEST_F(TemplateFile, AFailedSaveLeavesTheOldFileAndNoLitter) {
  fs::create_directory(folder_ / "target");  // rename onto a directory fails
  write(folder_ / "target" / "x", "keep");
  EXPECT_EQ(code_of([&] { small_template(false).save((folder_ / "target").string()); }),
            ErrorCode::file_unreadable);
  EXPECT_EQ(read(folder_ / "target" / "x"), "keep");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace sfft::template_file_test
