# The page of `sonde serve`: built from web/ in this build folder, compressed, and embedded in the command (target
# sonde_page, which defines assets() of src/server/assets.h). tools/web fetches Node.js and the page's packages; they
# are not needed if the page is off, as for sanitizers and fuzzers.
set(web_default OFF)
if(PROJECT_IS_TOP_LEVEL AND NOT SONDE_SANITIZE AND NOT SONDE_FUZZ)
  set(web_default ON)
endif()
option(SONDE_WEB "Embed the page of `sonde serve` in the command; its build fetches Node.js" ${web_default})

set(page_dir ${CMAKE_BINARY_DIR}/web)
set(page_source ${page_dir}/page.cc)
if(SONDE_WEB)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(GLOB_RECURSE page_files CONFIGURE_DEPENDS ${SONDE_SOURCE_DIR}/web/src/* ${SONDE_SOURCE_DIR}/web/public/*)
  list(FILTER page_files EXCLUDE REGEX "\\.test\\.tsx?$")
  foreach(file index.html package.json package-lock.json requirements.txt tsconfig.json vite.config.ts)
    list(APPEND page_files ${SONDE_SOURCE_DIR}/web/${file})
  endforeach()
  add_custom_command(OUTPUT ${page_source} ${page_dir}/page.bytes
    COMMAND ${SONDE_SOURCE_DIR}/tools/web build ${page_dir}/dist
    COMMAND ${Python3_EXECUTABLE} -B ${SONDE_SOURCE_DIR}/cmake/embed_page.py ${page_dir}/dist ${page_source} ${page_dir}/page.bytes
    DEPENDS ${page_files} ${SONDE_SOURCE_DIR}/tools/web ${SONDE_SOURCE_DIR}/cmake/embed_page.py
    COMMENT "Building the page" VERBATIM)
  set_source_files_properties(${page_source} PROPERTIES OBJECT_DEPENDS ${page_dir}/page.bytes)
else()
  file(CONFIGURE OUTPUT ${page_source} CONTENT
    "#include \"server/assets.h\"\n\nstd::span<const sonde::server::Asset> sonde::server::assets() { return {}; }\n")
endif()

add_library(sonde_page OBJECT EXCLUDE_FROM_ALL ${page_source})
target_link_libraries(sonde_page PRIVATE sonde_options)
target_include_directories(sonde_page PRIVATE ${SONDE_SOURCE_DIR}/src)
