# SPDX-License-Identifier: BSD-3-Clause
# -DGFK_SANITIZE=address,undefined or =thread instruments everything this project compiles.
if(GFK_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${GFK_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
  if(GFK_SANITIZE MATCHES "undefined")
    # The C++ code is tests, which take twice as long to compile with checks of every pointer;
    # AddressSanitizer meets those that are wrong.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow>)
  endif()
  add_link_options(-fsanitize=${GFK_SANITIZE})
endif()
