// SPDX-License-Identifier: BSD-3-Clause
// Calibrations: the file, and measuring.
#include "fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace {

// ---- the file -----------------------------------------------------------------------------------

class HostCalibrationFile : public testing::Test {
  protected:
    void SetUp() override {
        char folder[] = "/tmp/gfk-calibration-XXXXXX";
        ASSERT_NE(nullptr, mkdtemp(folder));
        folder_ = folder;
        file_ = folder_ + "/calibration";
    }
    void TearDown() override {
        std::remove(file_.c_str());
        EXPECT_EQ(0, rmdir(folder_.c_str())) << "something was left in " << folder_;
    }
    std::string read() const {
        std::ifstream in(file_, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }
    void write(const std::string &text) const { std::ofstream(file_, std::ios::binary) << text; }
    gfk_status load_unchanged() const { // and nothing is written on an error
        gfk_calibration c;
        std::memset(&c, 0x5a, sizeof c);
        const gfk_calibration before = c;
        const gfk_status status = gfk_calibration_load(&c, file_.c_str());
        EXPECT_EQ(status != GFK_STATUS_SUCCESS, std::memcmp(&c, &before, sizeof c) == 0);
        count_checked();
        return status;
    }
    gfk_pipeline_info info_with_file() const {
        gfk_pipeline_desc desc = pipeline_desc();
        desc.calibration_file = file_.c_str();
        return info_of(make_pipeline(desc).get());
    }
    std::string folder_, file_;
};

TEST_F(HostCalibrationFile, RoundTrip) {
    for (size_t devices : {0, 1, 16}) {
        gfk_calibration c = round_machine();
        c.device_count = devices;
        for (size_t i = 0; i < devices; i++)
            std::strcpy(c.devices[i],
                        "A GPU of\x80 63 bytes, which are as many as there may be, exactl!");
        ASSERT_OK(gfk_calibration_save(&c, file_.c_str()));
        gfk_calibration back;
        ASSERT_OK(gfk_calibration_load(&back, file_.c_str()));
        EXPECT_STREQ(c.host, back.host);
        EXPECT_STREQ(c.processor, back.processor);
        EXPECT_EQ(c.threads, back.threads);
        ASSERT_EQ(devices, back.device_count);
        for (size_t i = 0; i < devices; i++)
            EXPECT_STREQ(c.devices[i], back.devices[i]);
        for (int i = 0; i < 20; i++)
            EXPECT_NEAR(c.cpu[i / 5][i % 5], back.cpu[i / 5][i % 5], 0.5);
        EXPECT_NEAR(c.cpu_call, back.cpu_call, 5e-10);
        if (devices != 0) {
            for (int i = 0; i < 6; i++)
                EXPECT_EQ(c.bus[i / 3][i % 3], back.bus[i / 3][i % 3]);
            EXPECT_EQ(c.kernel[3], back.kernel[3]);
            EXPECT_NEAR(c.gpu_call, back.gpu_call, 5e-10);
            EXPECT_NEAR(c.both[0], back.both[0], 5e-7);
        }
        // What came back is saved as the same bytes.
        const std::string text = read();
        ASSERT_OK(gfk_calibration_save(&back, file_.c_str()));
        EXPECT_EQ(text, read());
        count_checked();
    }
}

TEST_F(HostCalibrationFile, EveryDamageIsFound) {
    const gfk_calibration c = round_machine();
    ASSERT_OK(gfk_calibration_save(&c, file_.c_str()));
    const std::string text = read();
    for (size_t i = 0; i < text.size(); i++) {
        std::string damaged = text;
        damaged[i] = static_cast<char>(damaged[i] ^ 1 << i % 8);
        write(damaged);
        EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged()) << "byte " << i;
        write(text.substr(0, i));
        EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged()) << "length " << i;
    }
    write(text + "\n");
    EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged());
    write(text + text);
    EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged());
    write(std::string(100000, 'x'));
    EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged());
    write(std::string(4096, '\0'));
    EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged());
    write(text);
    EXPECT_OK(load_unchanged());
}

// Files whose checksum is right, but nothing else.
TEST_F(HostCalibrationFile, ContentsAreCheckedToo) {
    const gfk_calibration c = round_machine();
    ASSERT_OK(gfk_calibration_save(&c, file_.c_str()));
    const std::string text = read();
    const std::string body = text.substr(0, text.rfind("checksum"));
    const auto signed_text = [](const std::string &lines) {
        uint64_t hash = 14695981039346656037u;
        for (unsigned char byte : lines)
            hash = (hash ^ byte) * 1099511628211u;
        char line[40];
        std::snprintf(line, sizeof line, "checksum %016llx\n",
                      static_cast<unsigned long long>(hash));
        return lines + line;
    };
    ASSERT_EQ(text, signed_text(body));
    const std::pair<const char *, const char *> edits[] = {
        {"calibration 1", "calibration 2"},
        {"threads 16", "threads 0"},
        {"threads 16", "threads 16 16"},
        {"threads 16", "threads -1"},
        {"threads 16", "threads 99999999999"},
        {"threads 16", "threads 99999999999999999999999"},
        {"devices 1", "devices 2"},
        {"devices 1", "devices 17"},
        {"host somewhere", "host "},
        {"host somewhere\n", ""},
        {"cpu w16 ", "cpu w16 0 "},
        {"cpu w16 ", "cpu w16  "},
        {"bus pinned 50000000000", "bus pinned 0"},
        {"gpu-call", "gpu"},
    };
    for (const auto &edit : edits) {
        std::string lines = body;
        const size_t at = lines.find(edit.first);
        ASSERT_NE(std::string::npos, at) << edit.first;
        lines.replace(at, std::strlen(edit.first), edit.second);
        write(signed_text(lines));
        EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged()) << edit.second;
    }
    write(signed_text(body + "more 1\n"));
    EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged());
    write(signed_text(""));
    EXPECT_STATUS(GFK_STATUS_CORRUPT, load_unchanged());
}

TEST_F(HostCalibrationFile, PlacesThatAreNone) {
    gfk_calibration c = round_machine(), back;
    EXPECT_STATUS(GFK_STATUS_IO, gfk_calibration_load(&back, file_.c_str()));
    EXPECT_STATUS(GFK_STATUS_IO, gfk_calibration_load(&back, folder_.c_str()));
    EXPECT_STATUS(GFK_STATUS_IO, gfk_calibration_save(&c, (file_ + "/below").c_str()));
    EXPECT_STATUS(GFK_STATUS_IO, gfk_calibration_save(&c, folder_.c_str())); // a folder
    EXPECT_STATUS(INVALID, gfk_calibration_load(nullptr, file_.c_str()));
    EXPECT_STATUS(INVALID, gfk_calibration_load(&back, nullptr));
    EXPECT_STATUS(INVALID, gfk_calibration_save(nullptr, file_.c_str()));
    EXPECT_STATUS(INVALID, gfk_calibration_save(&c, nullptr));
    c.host[0] = 0;
    EXPECT_STATUS(INVALID, gfk_calibration_save(&c, file_.c_str()));
    c = round_machine();
    std::memset(c.processor, 'x', sizeof c.processor); // without an end
    EXPECT_STATUS(INVALID, gfk_calibration_save(&c, file_.c_str()));
    c = round_machine();
    c.devices[0][2] = '\n';
    EXPECT_STATUS(INVALID, gfk_calibration_save(&c, file_.c_str()));
    c = round_machine();
    c.cpu[0][0] = 0;
    EXPECT_STATUS(INVALID, gfk_calibration_save(&c, file_.c_str()));
    EXPECT_STATUS(GFK_STATUS_IO, gfk_calibration_load(&back, file_.c_str())); // still none
    count_checked(12);
}

// A failed save leaves the old file.
TEST_F(HostCalibrationFile, ReplacesAsAWhole) {
    gfk_calibration c = round_machine();
    ASSERT_OK(gfk_calibration_save(&c, file_.c_str()));
    const std::string text = read();
    if (geteuid() != 0) { // who may write everywhere
        ASSERT_EQ(0, chmod(folder_.c_str(), 0500));
        c.threads = 3;
        EXPECT_STATUS(GFK_STATUS_IO, gfk_calibration_save(&c, file_.c_str()));
        ASSERT_EQ(0, chmod(folder_.c_str(), 0700));
        EXPECT_EQ(text, read());
    }
    c.threads = 5;
    ASSERT_OK(gfk_calibration_save(&c, file_.c_str()));
    EXPECT_NE(text, read());
    count_checked();
}

TEST_F(HostCalibrationFile, PipelinesTakeTheirOwnOnly) {
    gfk_pipeline_info info = info_with_file();
    EXPECT_FALSE(info.calibrated);
    EXPECT_STATUS(GFK_STATUS_IO, info.calibration);
    const gfk_calibration foreign = round_machine();
    ASSERT_OK(gfk_calibration_save(&foreign, file_.c_str()));
    info = info_with_file();
    EXPECT_FALSE(info.calibrated);
    EXPECT_STATUS(GFK_STATUS_WRONG_DEVICE, info.calibration);
    write("gfk-calibration 1\nnothing else");
    info = info_with_file();
    EXPECT_FALSE(info.calibrated);
    EXPECT_STATUS(GFK_STATUS_CORRUPT, info.calibration);
    count_checked(3);
}

// ---- measuring ----------------------------------------------------------------------------------

TEST_F(HostCalibrationFile, Measured) {
    if (options.reduced)
        GTEST_SKIP() << "rates under a sanitizer are those of the sanitizer";
    gfk_calibration c;
    ASSERT_OK(gfk_calibrate(nullptr, file_.c_str(), &c));
    gfk_pipeline_desc desc = pipeline_desc();
    desc.calibration_file = file_.c_str();
    const Pipeline pipeline = make_pipeline(desc);
    const gfk_pipeline_info info = info_of(pipeline.get());
    EXPECT_TRUE(info.calibrated);
    EXPECT_OK(info.calibration);
    EXPECT_EQ(info.threads, c.threads);
    EXPECT_EQ(info.device_count, c.device_count);
    const gfk_advice advice = advise(c, 10, 4, 1 << 20, GFK_PAGEABLE);
    EXPECT_GT(advice.cpu_seconds, 0);
    EXPECT_EQ(c.device_count != 0, advice.gpu_seconds > 0);
    // Another number of threads is another machine.
    desc.threads = info.threads + 1;
    EXPECT_STATUS(GFK_STATUS_WRONG_DEVICE, info_of(make_pipeline(desc).get()).calibration);
    // Calls go by it, and say so.
    Random random(1);
    const HostRun run = run_product(pipeline.get(), make_field(8), 4, 10, 1 << 20, GFK_SET,
                                    Place::PAGEABLE, random);
    EXPECT_OK(run.status);
    EXPECT_TRUE(run.right);
    EXPECT_EQ(advice.path, run.report.path);
    if (c.device_count != 0) {
        EXPECT_NE(nullptr, std::strstr(run.report.reason, "calibration"));
    }
    count_checked();
}

TEST(HostCalibrate, Arguments) {
    EXPECT_STATUS(INVALID, gfk_calibrate(nullptr, nullptr, nullptr));
    gfk_pipeline_desc d = pipeline_desc();
    d.size = 3;
    gfk_calibration c;
    EXPECT_STATUS(INVALID, gfk_calibrate(&d, nullptr, &c));
    const int nowhere = device_count();
    d = pipeline_desc();
    d.devices = &nowhere;
    d.device_count = 1;
    EXPECT_STATUS(GFK_STATUS_NO_DEVICE, gfk_calibrate(&d, nullptr, &c));
    count_checked(3);
}

} // namespace
