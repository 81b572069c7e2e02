# cmake --install of the library: headers, archive, and a package so that find_package(gcbs) gives gcbs::gcbs.
# The program installs itself (cli/CMakeLists.txt).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(GCBS_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/gcbs)

install(TARGETS gcbs EXPORT gcbsTargets)
install(DIRECTORY include/gcbs DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/generated/gcbs/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gcbs)

configure_package_config_file(cmake/gcbsConfig.cmake.in ${PROJECT_BINARY_DIR}/gcbsConfig.cmake
                              INSTALL_DESTINATION ${GCBS_PACKAGE_DIR})
# Before 1.0 a minor version may break what the one before it promised.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gcbsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT gcbsTargets NAMESPACE gcbs:: DESTINATION ${GCBS_PACKAGE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/gcbsConfig.cmake ${PROJECT_BINARY_DIR}/gcbsConfigVersion.cmake
        DESTINATION ${GCBS_PACKAGE_DIR})
