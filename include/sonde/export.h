// Marks what the shared library shows to its users; everything else in it is hidden.
#pragma once

#if defined(__GNUC__)
#define SONDE_API __attribute__((visibility("default")))
#else
#define SONDE_API
#endif
