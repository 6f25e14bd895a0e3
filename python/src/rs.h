// SPDX-License-Identifier: BSD-3-Clause
// The class RS, and what is shared with the objects that are made from codes.
#pragma once
#include <gfk/rs.h>

#include "array.h"
#include "field.h"
#include "places.h"
#include "product_options.h"

namespace gfk {
class Codeword;
class Pipeline;

class RS {
  public:
    RS(Integer k, Integer m, AnyField field, nb::handle matrix, bool unchecked, ProductOptions options);

    size_t k() const { return k_; }
    size_t m() const { return m_; }
    size_t n() const { return k_ + m_; }
    const Field &field() const { return field_; }
    gfk_rs_matrix matrix() const { return matrix_; }
    // The code at a place.
    gfk_rs_t at(int device);
    // A code on the CPU with the same matrix, for questions that no place and no engine matters to.
    gfk_rs_t model() const { return model_; }
    bool is_model_at_cpu() const { return model_is_at_cpu_; }

    nb::object encode(nb::handle data, nb::handle out, Pipeline *pipeline);
    nb::object decode(nb::handle data, nb::handle parity, nb::handle lost, nb::handle wanted, nb::handle out,
                      Pipeline *pipeline);
    void repair(nb::handle data, nb::handle parity, nb::handle lost, Pipeline *pipeline);
    nb::object verify(nb::handle data, nb::handle parity, nb::handle out, Pipeline *pipeline);
    Located locate(nb::handle data, nb::handle parity, bool repair);
    nb::object delta(nb::handle before, nb::handle after, nb::handle out);
    nb::object matrix_array() const;
    RSInfo info(const Device &device);
    // The keyword arguments that make the same code.
    nb::dict arguments() const;

  private:
    using Codes = Places<gfk_rs_t, gfk_rs_destroy>;
    void check_made(gfk_status status) const;
    gfk_status create(gfk_rs_t *made, int device, const ProductOptions &options) const;
    void rebuild(const Call &call, const Codeword &codeword, const std::vector<size_t> &lost,
                 const std::vector<size_t> &wanted, Pipeline *pipeline);

    Field field_;
    size_t k_, m_;
    gfk_rs_matrix matrix_ = GFK_RS_CUSTOM;
    std::vector<uint32_t> custom_;
    bool unchecked_;
    ProductOptions options_;
    Codes codes_, models_;
    gfk_rs_t model_ = nullptr;
    bool model_is_at_cpu_ = false; // so codes_ has the model, else models_
};

// An index below `count`, and a list of different ones. `name` is the argument's, for messages.
size_t index_of(nb::handle object, size_t count, const char *name);
std::vector<size_t> indices_of(nb::handle object, size_t count, const char *name);
// For the library, to which NULL is another thing than an empty list.
inline const size_t *address_of(const std::vector<size_t> &indices) {
    static const size_t none = 0;
    return indices.empty() ? &none : indices.data();
}

// The data and the parity of a call that rebuilds regions: what is there, and where the rebuilt regions go.
class Codeword {
  public:
    Codeword(Call &call, const RS &rs, nb::handle data, nb::handle parity, Use of_data = Use::Read,
             Use of_parity = Use::Read);
    // Is the region None?
    bool is_missing(size_t region) const;
    // Appends the regions that are missing and not in the list.
    void add_missing(std::vector<size_t> &lost) const;
    // Rebuilt regions are rows of `out`, in the order of `wanted`. Returns out, or the new array.
    nb::object rebuild_into(Call &call, nb::handle out, const std::vector<size_t> &lost,
                            const std::vector<size_t> &wanted);
    size_t bytes() const { return model().bytes(); }
    gfk_regions data() const { return {addresses_.data(), nullptr, 0}; }
    gfk_regions parity() const { return {addresses_.data() + k_, nullptr, 0}; }

  private:
    const Regions &model() const { return data_.is_empty() ? parity_ : data_; }

    size_t k_;
    unsigned w_;
    Regions data_, parity_;
    std::optional<Output> out_;
    std::vector<void *> addresses_;
};

void bind_rs_objects(nb::module_ &module, nb::class_<RS> &rs);
} // namespace gfk
