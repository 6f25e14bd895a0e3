// SPDX-License-Identifier: BSD-3-Clause
#include "unlocked.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace gfk {
namespace {
std::atomic<size_t> inside{0};
std::atomic<bool> is_closed{false};
std::mutex forking; // held by the thread that forks, from before to after

void before_fork() {
    nb::gil_scoped_release release;
    forking.lock();
    is_closed = true;
    while (inside != 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

// Python has ended: nobody gets in any more, because that takes the GIL. CUDA ends next, and a call that is still in CUDA
// then crashes: calls come out, if they take seconds at most.
void after_python() {
    using std::chrono::steady_clock;
    const auto end = steady_clock::now() + std::chrono::seconds(5);
    while (inside != 0 && steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void after_fork() {
    is_closed = false;
    forking.unlock();
}

void after_fork_in_child() {
    inside = 0; // threads that were on their way in are not here
    after_fork();
}
} // namespace

InLibrary::InLibrary() {
    inside++;
    while (is_closed) {
        inside--;
        forking.lock(); // waits for the fork
        forking.unlock();
        inside++;
    }
}

InLibrary::~InLibrary() {
    inside--;
}

void bind_fork(nb::module_ &) {
    nb::module_::import_("os").attr("register_at_fork")(
        nb::arg("before") = nb::cpp_function(before_fork), nb::arg("after_in_parent") = nb::cpp_function(after_fork),
        nb::arg("after_in_child") = nb::cpp_function(after_fork_in_child));
    Py_AtExit(after_python);
}
} // namespace gfk
