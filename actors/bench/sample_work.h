// path: hot
//
// Handlers with a known amount of work, with which benchmarks of messaging are compared.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace pinstrike::actors {

/// Makes the compiler assume that `value` may have changed.
template <class T>
inline void forget_contents(T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

/// Sums `count` ints and the message.
template <std::size_t count>
class SumOf {
  public:
    SumOf() { std::iota(ints_.begin(), ints_.end(), 0U); }

    void run(std::uint64_t message) {
        forget_contents(ints_);
        total_ += std::accumulate(ints_.begin(), ints_.end(), 0U) + message;
    }

    [[nodiscard]] std::uint64_t total() const { return total_; }

  private:
    std::array<std::uint32_t, count> ints_{};
    std::uint64_t total_ = 0;
};

/// Computes SHA-512 of 100 bytes that begin with the message.
class Sha512 {
  public:
    Sha512() : context_(EVP_MD_CTX_new()), kind_(EVP_MD_fetch(nullptr, "SHA512", nullptr)) {}

    ~Sha512() {
        EVP_MD_CTX_free(context_);
        EVP_MD_free(kind_);
    }

    Sha512(const Sha512&) = delete;
    Sha512& operator=(const Sha512&) = delete;

    void run(std::uint64_t message) {
        std::memcpy(text_.data(), &message, sizeof(message));
        EVP_DigestInit_ex2(context_, kind_, nullptr);
        EVP_DigestUpdate(context_, text_.data(), text_.size());
        EVP_DigestFinal_ex(context_, digest_.data(), nullptr);
        std::uint64_t word = 0;
        std::memcpy(&word, digest_.data(), sizeof(word));
        total_ += word;
    }

    [[nodiscard]] std::uint64_t total() const { return total_; }

  private:
    EVP_MD_CTX* context_;
    EVP_MD* kind_;
    std::array<unsigned char, 100> text_{};
    std::array<unsigned char, 64> digest_{};
    std::uint64_t total_ = 0;
};

/// An empty handler, which only reads the message.
class NoWork {
  public:
    void run(std::uint64_t message) { total_ += message; }

    [[nodiscard]] std::uint64_t total() const { return total_; }

  private:
    std::uint64_t total_ = 0;
};

}  // namespace pinstrike::actors
