# SPDX-License-Identifier: BSD-3-Clause
# gfk_left_out(LIBRARY WHAT): LIBRARY was not found, so WHAT is not built. A line says so; with
# GFK_REQUIRE_ALL, which .ci/run and scripts/gpu.sh set, the configuration stops.
option(GFK_REQUIRE_ALL "Stop where an optional library is missing" OFF)
function(gfk_left_out library what)
  if(GFK_REQUIRE_ALL)
    message(FATAL_ERROR "gfk: no ${library}, and GFK_REQUIRE_ALL is ON")
  endif()
  message(STATUS "gfk: no ${library}, so without ${what}")
endfunction()
