// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait for work, so that starting them is in no figure.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

// All run the same job when told to.
class Team {
  public:
    using Job = std::function<void(unsigned thread)>;
    explicit Team(unsigned n) {
        for (unsigned t = 0; t < n; t++)
            threads_.emplace_back([this, t] { work(t); });
    }
    ~Team() {
        run(nullptr);
        for (std::thread &thread : threads_)
            thread.join();
    }
    double run(const Job *job) { // seconds from the first start to the last end
        std::unique_lock<std::mutex> lock(mutex_);
        const auto start = std::chrono::steady_clock::now();
        job_ = job;
        left_ = threads_.size();
        round_++;
        wake_.notify_all();
        if (job != nullptr)
            done_.wait(lock, [this] { return left_ == 0; });
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

  private:
    void work(unsigned t) {
        for (unsigned seen = 0;; seen++) {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return round_ != seen; });
            const Job *job = job_;
            if (job == nullptr)
                return;
            lock.unlock();
            (*job)(t);
            lock.lock();
            if (--left_ == 0)
                done_.notify_one();
        }
    }
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const Job *job_ = nullptr;
    size_t left_ = 0;
    unsigned round_ = 0;
    std::vector<std::thread> threads_;
};
