# SPDX-License-Identifier: BSD-3-Clause
# A few small CPU rows from gfk_bench, of products too, through report.py and compare.py. The figures do not matter.
function(run) # leaves what was printed in `printed`
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  set(printed "${out}${err}" PARENT_SCOPE)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nended with ${code}\n${out}${err}")
  endif()
endfunction()
run(${BENCH} --only cpu --sizes 4096,65536 --benchmark_filter=split_ --out ${OUT})
run(${PYTHON} -B ${SOURCE_DIR}/compare.py ${OUT} ${OUT})
run(${BENCH} --preset product --only cpu --sizes 65536 --out ${OUT}.product.json)
run(${BENCH} --preset host --only cpu --sizes 65536 --out ${OUT}.host.json)
run(${BENCH} --preset matmul --only cpu --benchmark_filter=w8/64 --out ${OUT}.matmul.json)
if(NOT printed MATCHES "\nmatmul_cpu_w8/64[^ ]+ +[0-9.]+ ")
  message(FATAL_ERROR "--preset matmul: ${printed}")
endif()
run(${BENCH} --preset rlnc --only cpu --benchmark_filter=w8/128.128/1500 --out ${OUT}.rlnc.json)

# quick ends with a table of methods over widths and a table of engines.
run(${BENCH} --preset quick --only cpu --sizes 65536 --out ${OUT}.quick.json)
foreach(line "\nregion multiply, [^\n]+\n[^\n]+\n +w=8 +w=16 +w=32[^\n]*\n"
             "\nSPLIT +[0-9.]+[*]? +[0-9.]+[*]? +[0-9.]+"
             "this library, [0-9]+ threads?[^\n]*\n"
             "\nfastest( +[0-9.]+[*]?)+[^\n]*\n"
             "\nproducts, [^\n]+\n +w=8 +w=16 +w=32\n +4\\+2 +10\\+4 +30\\+3 +10\\+4 +10\\+4\n"
             "\nthis library, by host, [0-9]+ threads? +[0-9.]+[*]? +[0-9.]+[*]? +[0-9.]+[*]? +[0-9.]+[*]? +[0-9.]+[*]?\n")
  if(NOT printed MATCHES "${line}")
    message(FATAL_ERROR "no line \"${line}\" in\n${printed}")
  endif()
endforeach()
if(printed MATCHES "slow: |\nisal, |\ngfcomplete, |called directly|\ngf_complete|\nisa_l" OR NOT printed MATCHES "\nwrote [^\n]+quick.json\n")
  message(FATAL_ERROR "--preset quick: ${printed}")
endif()

# The report of all of them; report.py ends with 3 where pandas is not installed.
set(files ${OUT})
foreach(preset product host matmul rlnc quick)
  list(APPEND files ${OUT}.${preset}.json)
endforeach()
execute_process(COMMAND ${PYTHON} -B ${SOURCE_DIR}/report.py --check ${files} RESULT_VARIABLE code OUTPUT_VARIABLE out
                ERROR_VARIABLE err)
if(code EQUAL 3)
  message(STATUS "not read: ${err}")
elseif(NOT code EQUAL 0 OR err MATCHES "Warning")
  message(FATAL_ERROR "report.py --check ${files}\nended with ${code}\n${out}${err}")
endif()

# A machine without a driver has no GPU; its driver is not too old.
run(${BENCH} --list)
if(printed MATCHES "insufficient" AND NOT EXISTS /proc/driver/nvidia)
  message(FATAL_ERROR "--list: ${printed}")
endif()
execute_process(COMMAND ${BENCH} --preset nonsense RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
if(NOT code EQUAL 2)
  message(FATAL_ERROR "--preset nonsense was not refused")
endif()

# Preset card has GPU rows only.
execute_process(COMMAND ${BENCH} --preset card --only cpu RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT code EQUAL 1 OR NOT err MATCHES "gfk_bench: no row of this preset can run here" OR out MATCHES "###")
  message(FATAL_ERROR "--preset card --only cpu ended with ${code}\n${out}${err}")
endif()

# --list names rows and measures nothing; a file that ends in .csv has a line for each row.
execute_process(COMMAND ${BENCH} --list --method SPLIT --width 8 --only cpu OUTPUT_VARIABLE names
                                                                        RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT names MATCHES "^split_w8_host/64KiB/set/hot\n")
  message(FATAL_ERROR "--list: ${names}")
endif()
run(${BENCH} --preset product --only cpu --sizes 65536 --engine host --out ${OUT}.csv)
file(STRINGS ${OUT}.csv lines)
list(LENGTH lines count)
if(NOT count EQUAL 6)
  message(FATAL_ERROR "${OUT}.csv has ${count} lines")
endif()
