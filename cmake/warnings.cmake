# SPDX-License-Identifier: BSD-3-Clause
# gfk_warnings(target): every warning we keep at zero. -Werror is for our own builds only.
function(gfk_warnings target)
  set(common -Wall -Wextra -Wshadow)
  set(c ${common} -Wconversion -Wstrict-prototypes)
  set(cuda -Xcompiler=-Wall,-Wextra)
  if(GFK_WERROR)
    list(APPEND common -Werror)
    list(APPEND c -Werror)
    list(APPEND cuda -Werror=all-warnings)
  endif()
  target_compile_options(
    ${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:${c}> $<$<COMPILE_LANGUAGE:CXX>:${common}>
                      $<$<COMPILE_LANGUAGE:CUDA>:${cuda}>)
endfunction()
