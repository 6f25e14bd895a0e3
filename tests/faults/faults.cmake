# SPDX-License-Identifier: BSD-3-Clause
# The same test program on a library with rows that are wrong on purpose: every suite must fail.
# The library has the same name in another folder, so that LD_LIBRARY_PATH chooses it.
gfk_add_library(gfk_faulty)
target_sources(gfk_faulty PRIVATE faults/faulty_rows.c faults/faulty_engines.c)
if(GFK_HAVE_CUDA)
  target_sources(gfk_faulty PRIVATE faults/faulty_rows.cu faults/faulty_engines.cu)
endif()
target_compile_definitions(gfk_faulty PRIVATE GFK_FAULTY_ROWS
                                              GFK_TEST_ENGINES="faulty_engines.def")
target_include_directories(gfk_faulty PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/faults)
target_compile_options(gfk_faulty PRIVATE "$<$<COMPILE_LANGUAGE:C>:SHELL:-include faulty_rows.h>")
set(faulty_dir ${CMAKE_CURRENT_BINARY_DIR}/faulty)
set_target_properties(gfk_faulty PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${faulty_dir})
add_dependencies(gfk_tests gfk_faulty)

foreach(suite Region GuardPage Exhaustive Polynomials Properties Threads Async)
  add_test(NAME fault.${suite}
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/expect_caught.sh ${faulty_dir}
                   Rows/${suite}.*faulty* $<TARGET_FILE:gfk_tests> ${reduced})
  set_tests_properties(fault.${suite} PROPERTIES LABELS fault TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
foreach(suite ProductShapes ProductMatrices ProductPlaces ProductPolynomials ProductThreads ProductAsync)
  add_test(NAME fault.${suite}
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/expect_caught.sh ${faulty_dir}
                   Engines/${suite}.*faulty* $<TARGET_FILE:gfk_tests> ${reduced})
  set_tests_properties(fault.${suite} PROPERTIES LABELS fault TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
foreach(suite RsEncode RsDecode RsUpdate RsThreads)
  add_test(NAME fault.${suite}
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/expect_caught.sh ${faulty_dir}
                   Places/${suite}.*faulty* $<TARGET_FILE:gfk_tests> ${reduced})
  set_tests_properties(fault.${suite} PROPERTIES LABELS fault TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
# Nothing but their ids chooses the faulty rows.
add_test(NAME fault.never_chosen COMMAND gfk_tests --gtest_filter=Multiplier.AutoChoice:ProductChoice.AutoFindsOneForEveryShape)
set_tests_properties(fault.never_chosen PROPERTIES LABELS fault TIMEOUT 60 ENVIRONMENT
                                                   "LD_LIBRARY_PATH=${faulty_dir}")
