# SPDX-License-Identifier: BSD-3-Clause
# -DGFK_SANITIZE=address,undefined or =thread instruments the library and the programs, which are C. The C++ code is
# tests: these compile in half the time without checks, and then a wrong access of a test to its own memory stays unseen,
# except one by a function of the C library. ThreadSanitizer must see what the threads of tests do.
if(GFK_SANITIZE)
  set(languages C)
  if(GFK_SANITIZE STREQUAL "thread")
    set(languages C,CXX)
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:${languages}>:-fsanitize=${GFK_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:${languages}>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:${languages}>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${GFK_SANITIZE})
endif()
