// Loss and accuracy of training and of held-out data, as two runs that share their charts, and the network's graph.
#include "seeds/task.h"

namespace {

// One node a layer, each fed by the one before.
sonde::Graph graph_of(const seeds::Network& network) {
  sonde::Graph graph;
  graph.add({.name = "images", .op = "Placeholder", .shapes = {{-1, 8, 8, 1}}});
  std::string previous = "images";
  for (const auto& layer : network.layers()) {
    sonde::Node node{.name = layer->name, .op = layer->op, .inputs = {previous}};
    for (const auto& parameter : layer->parameters) {
      graph.add({.name = parameter.name, .op = "Variable", .shapes = {seeds::view(parameter.value).shape}});
      node.inputs.push_back(parameter.name);
    }
    graph.add(std::move(node));
    previous = layer->name;
  }
  return graph;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string logs = seeds::directory(count, arguments, "logs/000_1");
  sonde::Recorder train = seeds::open(logs + "/train"), test = seeds::open(logs + "/test");

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(32, 16);
  train.graph(graph_of(network));

  for (std::int64_t n = 0; n < 200; ++n) {
    const seeds::Score seen = seeds::train(network, batches.next());
    train.scalar("loss", seen.loss, n);
    train.scalar("accuracy", seen.accuracy, n);
    const seeds::Score held_out = network.forward(data.test.images, data.test.labels);
    test.scalar("loss", held_out.loss, n);
    test.scalar("accuracy", held_out.accuracy, n);
  }
}
