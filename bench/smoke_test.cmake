# SPDX-License-Identifier: BSD-3-Clause
# A few small CPU rows from gfk_bench, of products too, through report.py and compare.py. The figures do not matter.
function(run) # leaves what was printed in `printed`
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  set(printed "${out}${err}" PARENT_SCOPE)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nended with ${code}\n${out}${err}")
  endif()
endfunction()
run(${BENCH} --preset region --only cpu --sizes 4096,65536 --filter=split_ --out ${OUT})
run(${PYTHON} -B ${SOURCE_DIR}/compare.py ${OUT} ${OUT})
run(${BENCH} --preset product --only cpu --sizes 65536 --out ${OUT}.product.json)
run(${BENCH} --preset host --only cpu --sizes 65536 --out ${OUT}.host.json)
run(${BENCH} --preset matmul --only cpu --filter=w8/64 --out ${OUT}.matmul.json)
if(NOT printed MATCHES "\nmatmul_cpu_w8/64[^ ]+ +[0-9.]+ ")
  message(FATAL_ERROR "--preset matmul: ${printed}")
endif()
run(${BENCH} --preset rlnc --only cpu --filter w8/128.128/1500 --out ${OUT}.rlnc.json)

# quick has every method and engine of the CPU.
run(${BENCH} --preset quick --only cpu --sizes 65536 --out ${OUT}.quick.json)
foreach(row split_w16_host/64KiB isal_w8/10.4 gfcomplete_w32/1.1 host_w16/10.4 isa-l/4.2
            jerasure/30.3 host_decode_w8/10.4/64KiB/pageable/cpu)
  if(NOT printed MATCHES "\n${row}[^\n]* +[0-9.]+ ")
    message(FATAL_ERROR "no row ${row} in\n${printed}")
  endif()
endforeach()
if(NOT printed MATCHES "\nwrote [^\n]+quick.json\n")
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

# --list names rows and measures nothing; a filter finds a row by its group too, and with a - the others.
function(expect_names names)
  execute_process(COMMAND ${BENCH} --list --only cpu ${ARGN} OUTPUT_VARIABLE listed RESULT_VARIABLE code)
  if(NOT code EQUAL 0 OR NOT listed MATCHES "^${names}$")
    message(FATAL_ERROR "--list ${ARGN} ended with ${code}\n${listed}")
  endif()
endfunction()
expect_names("split_w8_host/64KiB/set/hot\n.*" --preset region --method SPLIT --width 8 --filter -^gf_)
expect_names("isa-l/2.2/2MiB/set/hot/threads=1/sweep\njerasure/2.2/2MiB/set/hot/threads=1/sweep\n.*" --preset rs --filter
             "^sweep:.*threads=1/" --cpu-cores 1)
expect_names("rs_create_w8/10.4\nrs_create_w16/10.4\nrs_create_w32/10.4\n" --preset rs --filter "codes:rs_create.*/10[+]4$")
foreach(option --filter=[ --benchmark_filter=a word)
  execute_process(COMMAND ${BENCH} --list ${option} RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE err)
  if(NOT code EQUAL 2 OR NOT err MATCHES "is not understood")
    message(FATAL_ERROR "${option} ended with ${code}\n${err}")
  endif()
endforeach()
