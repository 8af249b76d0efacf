"""A small network for the digits as TensorFlow 1 builds it: a graph that a session runs."""
import tensorflow.compat.v1 as tf


class Network:
    """Adds the network to the default graph. Feed `images` and `labels`, and run the other tensors."""

    def __init__(self):
        tf.set_random_seed(7)
        self.images = tf.placeholder(tf.float32, [None, 8, 8, 1], "images")
        self.labels = tf.placeholder(tf.int32, [None], "labels")
        flat = tf.reshape(self.images, [-1, 64])
        self.weights = tf.get_variable("dense_1/kernel", [64, 32])
        bias = tf.get_variable("dense_1/bias", [32], initializer=tf.zeros_initializer())
        self.activation = tf.nn.relu(flat @ self.weights + bias, "activation")
        logits = self.activation @ tf.get_variable("dense_2/kernel", [32, 10])
        self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.labels, logits=logits))
        right = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), self.labels)
        self.accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def feed(self, images, labels):
        return {self.images: images, self.labels: labels}
