// SPDX-License-Identifier: Apache-2.0
// Tests which names are cameras, patterns, directories and files, and which files a pattern lists.
#include "video/sources/image_list.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "video/sources/source.hpp"

namespace sfft::video::image_list_test {
namespace {

namespace fs = std::filesystem;

class ImageList : public testing::Test {
 protected:
  ImageList() : folder_(fs::path(testing::TempDir()) / ("sfft-images-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~ImageList() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void make(const std::string& name) const { std::ofstream(at(name)) << "x"; }
  std::vector<std::string> names(const std::string& input) const {
    std::vector<std::string> found;
    for (const std::string& path : list_images(at(input)))
      found.push_back(fs::path(path).filename().string());
    return found;
  }
  static std::string failure(const std::string& input) {
    try {
      open_source(input);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(ImageList, PatternsCount) {
  for (const char* name :
       {"a0.png", "a1.png", "a3.png", "b01.png", "b02.png", "c000000001.png", "f2.png", "f10.png"})
    make(name);
  EXPECT_EQ(names("a%d.png"), (Names{"a0.png", "a1.png"}));
  EXPECT_EQ(names("a%1d.png"), (Names{"a0.png", "a1.png"}));
  EXPECT_EQ(names("b%02d.png"), (Names{"b01.png", "b02.png"}));
  EXPECT_EQ(names("c%09d.png"), (Names{"c000000001.png"}));
  EXPECT_EQ(names("."), (Names{"a0.png", "a1.png", "a3.png", "b01.png", "b02.png", "c000000001.png", "f2.png",
                               "f10.png"}));
  EXPECT_EQ(input_files(at("a%d.png")), (Names{at("a0.png"), at("a1.png")}));
  make("a");
  for (const char* bad : {"a%99d", "a%s", "a%d%d", "a%", "a%0", "a%-3d", "a%n", "100%.png", "x%d.png"})
    EXPECT_THROW(list_images(at(bad)), InputError) << bad;
}

TEST_F(ImageList, AFileOfThatNameIsNoPatternAndNoCamera) {
  make("100%.mp4");
  make("a%d.png");
  EXPECT_FALSE(is_image_pattern(at("100%.mp4")));
  EXPECT_FALSE(is_image_pattern(at("a%d.png")));
  EXPECT_TRUE(is_image_pattern(at("b%d.png")));
  EXPECT_EQ(input_files(at("100%.mp4")), Names{at("100%.mp4")});
  EXPECT_EQ(input_files("3"), Names{});
  EXPECT_EQ(input_files("-"), Names{});
  EXPECT_EQ(input_files("rtsp://host/x"), Names{});
  EXPECT_EQ(input_files("file:///x/y"), Names{"/x/y"});
}

TEST_F(ImageList, AFolderOfRecordingsIsNoSequence) {
  EXPECT_NE(failure(at("")).find("neither images"), std::string::npos);
  make("a.mp4");
  EXPECT_NE(failure(at("")).find("holds recordings and no images"), std::string::npos);
  EXPECT_EQ(list_recordings(at("")), std::vector<std::string>{at("a.mp4")});
  fs::create_directories(at("day 10/hour"));
  fs::create_directories(at("day 9"));
  fs::create_directory_symlink(at(""), at("back"));
  make("day 10/hour/b.ts");
  make("day 9/c.mkv");
  EXPECT_EQ(list_recordings(at("")), (std::vector{at("a.mp4"), at("day 9/c.mkv"), at("day 10/hour/b.ts")}));
}

TEST_F(ImageList, NamesThatCannotBeOpenedAreInputErrors) {
  fs::create_symlink("circle", at("circle"));
  for (const std::string& input : {at(std::string(300, 'x')), at(std::string(5000, 'x')), at("circle"),
                                   at("none"), at("circle/x"), std::string("1234567890123")}) {
    EXPECT_NE(failure(input), "") << input;
    input_files(input);
  }
  if (has_opencv()) {
    EXPECT_NE(failure("1234567890123").find("1234567890123"), std::string::npos) << "not another camera";
  }
}

}  // namespace
}  // namespace sfft::video::image_list_test
