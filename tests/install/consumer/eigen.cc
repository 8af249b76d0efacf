// Records a matrix of Eigen into the directory that it is given. With COMPUTED the matrix is an expression without
// storage, which does not compile.
#include <sonde/eigen.h>
#include <sonde/sonde.h>

#include <Eigen/Core>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto opened = sonde::Recorder::open(argv[1]);
  if (!opened) return 1;
  const Eigen::MatrixXf weights = Eigen::MatrixXf::Random(16, 8);
#if defined(COMPUTED)
  opened->histogram("weights", sonde::view(weights * 2), 0);
#else
  opened->histogram("weights", sonde::view(weights.transpose()), 0);
#endif
  return opened->close() ? 0 : 1;
}
