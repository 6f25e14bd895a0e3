// SPDX-License-Identifier: BSD-3-Clause
// The xor engine's kernels in a folder and in memory.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"

extern "C" {
#include "host/base/cauchy.h"
#include "host/product/xor/kernel_cache.h"
#include "host/product/xor/prebuilt.h"

// In place of the table that the build of the library makes.
static const unsigned char code[2] = {1, 2};
extern const gfk_jit_prebuilt gfk_jit_prebuilt_list[];
const gfk_jit_prebuilt gfk_jit_prebuilt_list[] = {{4, 2, 80, code}, {4, 2, 90, code + 1}};
extern const size_t gfk_jit_prebuilt_count;
const size_t gfk_jit_prebuilt_count = 2;
}

namespace {

namespace fs = std::filesystem;

gfk_bytes bytes_of(const std::string &text) {
    return {const_cast<char *>(text.data()), text.size()};
}

class XorCache : public testing::Test {
  protected:
    void SetUp() override {
        char path[] = "/tmp/gfk_cache_XXXXXX";
        ASSERT_NE(mkdtemp(path), nullptr);
        root_ = path;
        folder_ = root_ + "/a/b";
        cache_ = {folder_.c_str(), GFK_JIT_CACHE_LIMIT};
    }
    void TearDown() override { fs::remove_all(root_); }

    void write(const std::string &key, const std::string &payload) {
        gfk_jit_disk_cache_write(&cache_, bytes_of(key), bytes_of(payload));
    }
    std::string read(const std::string &key) { // empty: not there
        gfk_bytes found{};
        count_checked();
        if (!gfk_jit_disk_cache_read(&cache_, bytes_of(key), &found))
            return "";
        std::string text(static_cast<char *>(found.data), found.size);
        std::free(found.data);
        return text;
    }
    std::vector<fs::path> files() {
        std::vector<fs::path> found;
        for (const auto &e : fs::directory_iterator(folder_))
            found.push_back(e.path());
        return found;
    }
    fs::path only_file() {
        const auto found = files();
        EXPECT_EQ(found.size(), 1u);
        return found.empty() ? fs::path() : found[0];
    }
    static std::string content(const fs::path &path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static void put(const fs::path &path, const std::string &text) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    }

    std::string root_, folder_;
    gfk_jit_disk_cache cache_{};
};

TEST_F(XorCache, KeepsWhatWasWritten) {
    EXPECT_EQ(read("key"), "");
    EXPECT_FALSE(gfk_jit_disk_cache_has(&cache_, bytes_of("key")));
    write("key", "payload");
    EXPECT_TRUE(gfk_jit_disk_cache_has(&cache_, bytes_of("key")));
    EXPECT_EQ(read("key"), "payload");
    EXPECT_EQ(read("another key"), "");
    write("key", "newer");
    EXPECT_EQ(read("key"), "newer");
    EXPECT_EQ(files().size(), 1u);
    gfk_jit_disk_cache_remove(&cache_, bytes_of("key"));
    EXPECT_EQ(read("key"), "");
}

TEST_F(XorCache, FolderIsPrivate) {
    write("key", "payload");
    struct stat st {};
    ASSERT_EQ(stat(folder_.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, 0700u);
    ASSERT_EQ(stat(only_file().c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, 0600u);
}

// Every file that is not exactly right is as good as none, and is removed.
TEST_F(XorCache, DamageIsNoticed) {
    write("the key", "the payload");
    const fs::path path = only_file();
    const std::string good = content(path);
    std::vector<std::string> bad = {"", "x", good + "x", good + good,
                                    std::string(good.size(), '\0')};
    for (size_t n = 0; n < good.size(); n++) {
        bad.push_back(good.substr(0, n));
        for (const int bit : {0, 7}) {
            bad.push_back(good);
            bad.back()[n] = static_cast<char>(bad.back()[n] ^ 1 << bit);
        }
    }
    for (const std::string &text : bad) {
        put(path, text);
        EXPECT_EQ(read("the key"), "");
        EXPECT_FALSE(fs::exists(path)) << text.size();
    }
    put(path, good);
    EXPECT_EQ(read("the key"), "the payload");
}

TEST_F(XorCache, AnotherKeyUnderTheSameName) {
    write("key 1", "payload 1");
    const fs::path first = only_file();
    const std::string text = content(first);
    fs::remove(first);
    write("key 2", "payload 2");
    put(only_file(), text); // as if the two hashes were the same
    EXPECT_EQ(read("key 2"), "");
}

TEST_F(XorCache, SizesThatLie) {
    write("key", "payload");
    const fs::path path = only_file();
    const std::string good = content(path);
    for (const size_t at : {8, 16}) {
        for (const unsigned char x : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            std::string text = good;
            for (size_t i = 0; i < 8; i++)
                text[at + i] = static_cast<char>(x);
            put(path, text);
            EXPECT_EQ(read("key"), "");
        }
    }
}

TEST_F(XorCache, FoldersThatCannotBeUsed) {
    const auto nothing_happens = [&](const std::string &folder) {
        cache_.folder = folder.c_str();
        write("key", "payload");
        EXPECT_EQ(read("key"), "") << folder;
        gfk_jit_disk_cache_remove(&cache_, bytes_of("key"));
    };
    put(root_ + "/file", "no folder");
    nothing_happens(root_ + "/file");
    nothing_happens(root_ + "/file/below");
    nothing_happens("");
    nothing_happens("/proc/gfk");
    cache_.folder = nullptr;
    write("key", "payload");
    EXPECT_EQ(read("key"), "");
    for (const mode_t mode : {0777, 0770, 0702}) { // others can write
        fs::create_directory(root_ + "/open");
        ASSERT_EQ(chmod((root_ + "/open").c_str(), mode), 0);
        nothing_happens(root_ + "/open");
        EXPECT_TRUE(fs::is_empty(root_ + "/open"));
    }
    if (geteuid() != 0) { // root may write everywhere
        fs::create_directory(root_ + "/readonly");
        ASSERT_EQ(chmod((root_ + "/readonly").c_str(), 0500), 0);
        nothing_happens(root_ + "/readonly");
    }
}

// A folder that was good and is opened to others later is not read any more.
TEST_F(XorCache, NotFromAFolderThatOthersCanWrite) {
    write("key", "payload");
    ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
    EXPECT_EQ(read("key"), "");
    ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
    EXPECT_EQ(read("key"), "payload");
}

TEST_F(XorCache, LinksAndOtherThingsInPlaceOfAFile) {
    write("key", "payload");
    const fs::path path = only_file();
    fs::rename(path, root_ + "/elsewhere");
    fs::create_symlink(root_ + "/elsewhere", path);
    EXPECT_EQ(read("key"), "");
    EXPECT_TRUE(fs::exists(root_ + "/elsewhere"));
    fs::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(read("key"), ""); // and does not wait for a writer
    fs::remove(path);
    fs::create_directory(path);
    EXPECT_EQ(read("key"), "");
    write("key", "payload");
    EXPECT_EQ(read("key"), "");
}

TEST_F(XorCache, WhatWasNotUsedGoes) {
    const std::string payload(1000, 'p');
    cache_.limit = 3 * (1000 + 32 + 1) + 10;
    const auto used_at = [&](const std::string &key, time_t seconds) {
        for (const auto &path : files()) {
            if (content(path).find(key + payload.substr(0, 8)) != std::string::npos) {
                const timespec times[2] = {{seconds, 0}, {seconds, 0}};
                ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
            }
        }
    };
    for (const char *key : {"1", "2", "3"})
        write(key, payload);
    used_at("1", 1000);
    used_at("2", 2000);
    used_at("3", 3000);
    EXPECT_EQ(read("1"), payload); // used just now: 2 is the oldest
    write("4", payload);
    EXPECT_EQ(read("2"), "");
    EXPECT_EQ(read("1"), payload);
    EXPECT_EQ(read("3"), payload);
    EXPECT_EQ(read("4"), payload);
    EXPECT_EQ(files().size(), 3u);
    write("5", std::string(10000, 'p')); // larger than all together: not kept, and nothing goes
    EXPECT_EQ(files().size(), 3u);
}

TEST_F(XorCache, OnlyOurFilesGo) {
    write("1", std::string(1000, 'p'));
    put(folder_ + "/mine.txt", std::string(5000, 'x'));
    put(folder_ + "/fresh.gfkxor.tmp", "another process is writing it");
    put(folder_ + "/old.gfkxor.tmp", "left behind");
    const timespec times[2] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, (folder_ + "/old.gfkxor.tmp").c_str(), times, 0), 0);
    cache_.limit = 1500;
    write("2", std::string(1000, 'p'));
    EXPECT_EQ(read("1"), "");
    EXPECT_EQ(read("2").size(), 1000u);
    EXPECT_TRUE(fs::exists(folder_ + "/mine.txt"));
    EXPECT_TRUE(fs::exists(folder_ + "/fresh.gfkxor.tmp"));
    EXPECT_FALSE(fs::exists(folder_ + "/old.gfkxor.tmp"));
}

// Writers and readers of the same and of other keys: what is read is one of the whole payloads.
TEST_F(XorCache, ManyAtATime) {
    std::atomic<int> hits{0};
    on_threads(8, [&](int t) {
        for (int n = 0; n < 60; n++) {
            const std::string key = "key " + std::to_string(n % 3);
            if (t % 2)
                write(key, key + std::string(static_cast<size_t>(2000 + 100 * t), 'p'));
            const std::string got = read(key);
            hits += !got.empty();
            if (!got.empty() && (got.size() < 2000 || got.compare(0, key.size(), key) != 0))
                return testing::AssertionFailure() << key << " is torn";
        }
        return testing::AssertionSuccess();
    });
    EXPECT_GT(hits, 200);
    EXPECT_EQ(files().size(), 3u); // no temporary file is left
}

// ---- built in ----------------------------------------------------------------------------------

TEST(XorCommon, OnlyTheDefaultMatrixOnDevicesThatRunTheCode) {
    const gfk_field field = make_field(8), other = make_field(8, 0x11b);
    uint32_t matrix[8];
    ASSERT_OK(gfk_cauchy_matrix(&field, 4, 2, matrix));
    EXPECT_EQ(gfk_jit_prebuilt_find(&field, 2, 4, matrix, 80), code);
    EXPECT_EQ(gfk_jit_prebuilt_find(&field, 2, 4, matrix, 86), code);
    EXPECT_EQ(gfk_jit_prebuilt_find(&field, 2, 4, matrix, 90), code + 1);
    EXPECT_EQ(gfk_jit_prebuilt_find(&field, 2, 4, matrix, 75), nullptr);
    EXPECT_EQ(gfk_jit_prebuilt_find(&field, 2, 4, matrix, 100), nullptr);
    EXPECT_EQ(gfk_jit_prebuilt_find(&field, 4, 2, matrix, 90), nullptr);
    EXPECT_EQ(gfk_jit_prebuilt_find(&other, 2, 4, matrix, 90), nullptr);
    matrix[7] ^= 1;
    EXPECT_EQ(gfk_jit_prebuilt_find(&field, 2, 4, matrix, 90), nullptr);
}

TEST(XorCommon, CauchyMatrix) {
    const gfk_field field = make_field(8);
    std::vector<uint32_t> matrix(256 * 256, 77);
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, gfk_cauchy_matrix(&field, 200, 57, matrix.data()));
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, gfk_cauchy_matrix(&field, 257, 1, matrix.data()));
    EXPECT_EQ(matrix[0], 77u);
    ASSERT_OK(gfk_cauchy_matrix(&field, 200, 56, matrix.data()));
    for (uint32_t j = 0; j < 56; j++)
        for (uint32_t i = 0; i < 200; i++)
            EXPECT_EQ(multiply(field, matrix[j * 200 + i], (200 + j) ^ i), 1u);
}

// ---- in memory ---------------------------------------------------------------------------------

std::atomic<int> loaded{0};

void *load_one() {
    loaded++;
    return std::malloc(1);
}

void unload_one(void *library) {
    loaded--;
    std::free(library);
}

gfk_jit_kernel *add(const std::string &key) {
    gfk_jit_kernel made{};
    made.key = {std::malloc(key.size()), key.size()};
    std::memcpy(made.key.data, key.data(), key.size());
    made.function = made.library = load_one();
    made.unload = unload_one;
    return gfk_jit_kernel_add(&made);
}

TEST(XorLoaded, SharedKeptAndGivenBack) {
    const size_t before = gfk_jit_kernel_count();
    EXPECT_EQ(gfk_jit_kernel_find(bytes_of("a")), nullptr);
    gfk_jit_kernel *a = add("a");
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(gfk_jit_kernel_find(bytes_of("a")), a);
    EXPECT_EQ(add("a"), a); // a second one is given back
    EXPECT_EQ(loaded, static_cast<int>(before) + 1);
    for (int i = 0; i < 3; i++)
        gfk_jit_kernel_release(a);
    EXPECT_EQ(gfk_jit_kernel_find(bytes_of("a")), a); // unused, and still there
    // Used, it survives any number of others, of which those used last stay.
    for (int i = 0; i < 3 * GFK_JIT_MOST_KERNELS; i++)
        gfk_jit_kernel_release(add("n" + std::to_string(i)));
    EXPECT_EQ(gfk_jit_kernel_count(), static_cast<size_t>(GFK_JIT_MOST_KERNELS) + 1);
    EXPECT_EQ(gfk_jit_kernel_find(bytes_of("n0")), nullptr);
    gfk_jit_kernel *last =
        gfk_jit_kernel_find(bytes_of("n" + std::to_string(3 * GFK_JIT_MOST_KERNELS - 1)));
    EXPECT_NE(last, nullptr);
    gfk_jit_kernel_release(last);
    EXPECT_EQ(gfk_jit_kernel_find(bytes_of("a")), a);
    gfk_jit_kernel_release(a);
    gfk_jit_kernel_release(a);
    EXPECT_LE(gfk_jit_kernel_count(), static_cast<size_t>(GFK_JIT_MOST_KERNELS) + 1);
    gfk_jit_kernel_release(nullptr);
}

TEST(XorLoaded, MoreInUseThanAreKept) {
    std::vector<gfk_jit_kernel *> kernels;
    for (int i = 0; i < 2 * GFK_JIT_MOST_KERNELS; i++)
        kernels.push_back(add("u" + std::to_string(i)));
    EXPECT_GE(gfk_jit_kernel_count(), static_cast<size_t>(2 * GFK_JIT_MOST_KERNELS));
    for (gfk_jit_kernel *k : kernels)
        gfk_jit_kernel_release(k);
    EXPECT_EQ(gfk_jit_kernel_count(), static_cast<size_t>(GFK_JIT_MOST_KERNELS));
    EXPECT_EQ(loaded, GFK_JIT_MOST_KERNELS);
}

TEST(XorLoaded, ManyAtATime) {
    on_threads(8, [&](int t) {
        for (int n = 0; n < 400; n++) {
            const std::string key = "t" + std::to_string((n * (t + 1)) % 100);
            gfk_jit_kernel *k = gfk_jit_kernel_find(bytes_of(key));
            if (k == nullptr)
                k = add(key);
            const std::string got(static_cast<char *>(k->key.data), k->key.size);
            gfk_jit_kernel_release(k);
            if (got != key)
                return testing::AssertionFailure() << got << " for " << key;
        }
        return testing::AssertionSuccess();
    });
    EXPECT_EQ(loaded, static_cast<int>(gfk_jit_kernel_count()));
}

} // namespace
