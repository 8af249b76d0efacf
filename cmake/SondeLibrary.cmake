# Everything that users of Sonde see: one shared library made from all modules, the headers of include/sonde, and the
# files by which CMake (find_package, add_subdirectory) and pkg-config find them. The dependencies of the modules are
# linked privately, so the installed files do not name them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(sonde SHARED)
add_library(Sonde::sonde ALIAS sonde)
target_link_libraries(sonde PRIVATE $<BUILD_INTERFACE:sonde_options>)
sonde_link_modules(sonde ${SONDE_MODULES})
target_compile_features(sonde PUBLIC cxx_std_20)
target_include_directories(sonde INTERFACE
  $<BUILD_INTERFACE:${SONDE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Its thread runs until the process ends, so dlclose must not unload the code.
target_link_options(sonde PRIVATE -Wl,-z,nodelete)
target_link_options(sonde PRIVATE -Wl,--version-script=${SONDE_SOURCE_DIR}/cmake/sonde.map)
if(NOT SONDE_SANITIZE)  # the sanitizer's runtime is linked only into the program
  target_link_options(sonde PRIVATE -Wl,--no-undefined)
endif()
# Below 1.0 any minor version may change the binary interface.
set_target_properties(sonde PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${Sonde_VERSION}
  SOVERSION ${Sonde_VERSION_MAJOR}.${Sonde_VERSION_MINOR}
  LINK_DEPENDS ${SONDE_SOURCE_DIR}/cmake/sonde.map)

install(TARGETS sonde EXPORT Sonde LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${SONDE_SOURCE_DIR}/include/sonde DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(EXPORT Sonde NAMESPACE Sonde:: FILE SondeConfig.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sonde)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/SondeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SondeConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sonde)

# pkg-config derives the prefix from the place of the file itself, so an installed tree may be moved.
file(RELATIVE_PATH sonde_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" sonde_pc_to_prefix "${sonde_pc_to_prefix}")
configure_file(${SONDE_SOURCE_DIR}/cmake/sonde.pc.in ${CMAKE_CURRENT_BINARY_DIR}/sonde.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sonde.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${SONDE_SOURCE_DIR}/LICENSE ${SONDE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/sonde)
# The files that README.md links to, at the same relative place.
install(DIRECTORY ${SONDE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/sonde
  FILES_MATCHING PATTERN *.md PATTERN *.png)

# The library that runs models, which the command and the library load when they need it.
if(SONDE_INSPECT)
  add_custom_target(sonde_plugins ALL DEPENDS sonde_openvino)
  install(TARGETS sonde_openvino LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sonde)
endif()
