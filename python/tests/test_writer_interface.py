"""sonde.SummaryWriter without torch: what TensorBoard reads, and what is refused."""
import io
import os
import pathlib
import unittest

import numpy
import writer_script
from PIL import Image
from testing import InFolder, tensorboard_events

import sonde


class WriterInterface(InFolder):
    def written(self, name: str) -> dict:
        writer_script.record(sonde.SummaryWriter, self.log, [name])
        return tensorboard_events(self.log / name)

    def test_every_method_writes_something_that_tensorboard_reads(self):
        writer_script.record(sonde.SummaryWriter, self.log)
        for name in writer_script.calls():
            runs = [path.parent for path in (self.log / name).rglob("events.*")]
            self.assertGreater(sum(len(tensorboard_events(run)) for run in runs), 0, name)

    def test_scalars_have_their_steps_and_times(self):
        found = self.written("scalar")
        self.assertEqual(found["scalars", "x"][0][0::2], (3, 0.5))
        self.assertEqual(found["scalars", "x"][1], (4, 1234.5, 0.25))
        self.assertEqual(found["scalars", "y"][0][0], 0)
        self.assertEqual((found["scalars", "wide"][0][2].dtype, found["scalars", "wide"][0][2]), (numpy.float64, 0.1))

    def test_raw_histograms_are_kept_bucket_by_bucket(self):
        told = writer_script.counted(writer_script.data()["values"])
        ((_, _, buckets),) = self.written("histogram_raw")["histograms", "h"]
        self.assertEqual(buckets[:, 2].tolist(), told["bucket_counts"])
        self.assertEqual((buckets[0, 0], buckets[-1, 1]), (told["min"], told["max"]))
        self.assertEqual(buckets[:-1, 1].tolist(), told["bucket_limits"][:-1])

    def test_pictures_have_the_pixels_that_were_given(self):
        (_, _, (width, height, png)) = self.written("image")["images", "hwc"][0]
        self.assertEqual((width, height), (b"20", b"16"))
        numpy.testing.assert_array_equal(numpy.asarray(Image.open(io.BytesIO(png))), writer_script.data()["pixels"])

    def test_videos_are_animated(self):
        frames = numpy.zeros((3, 4, 3, 8, 6))
        frames[:, 2:] = 1
        with sonde.SummaryWriter(self.log) as writer:
            writer.add_video("v", frames, 1, fps=2)
        (_, _, (width, height, gif)) = tensorboard_events(self.log)["images", "v"][0]
        picture = Image.open(io.BytesIO(gif))
        self.assertEqual((picture.format, picture.size, picture.info["duration"]), ("GIF", (24, 8), 1000))
        self.assertGreater(picture.n_frames, 1)

    def test_embeddings_are_files_that_the_projector_reads(self):
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
        with sonde.SummaryWriter(self.log) as writer:
            writer.add_embedding(numpy.eye(5), [f"p{n}" for n in range(5)], numpy.zeros((5, 3, 4, 6)), 2, "a/b")
            writer.add_embedding(numpy.eye(2), [["x", 1], ["y", 2]], metadata_header=["name", "number"])
        config = ProjectorConfig()
        text_format.Parse((self.log / "projector_config.pbtxt").read_text(), config)
        first, second = config.embeddings
        self.assertEqual((first.tensor_name, list(first.sprite.single_image_dim)), ("a/b:00002", [6, 4]))
        for path in (first.tensor_path, first.metadata_path, first.sprite.image_path, second.tensor_path):
            self.assertTrue((self.log / path).exists(), path)
        self.assertEqual((self.log / second.metadata_path).read_text(), "name\tnumber\nx\t1\ny\t2\n")
        self.assertEqual(numpy.loadtxt(self.log / first.tensor_path).tolist(), numpy.eye(5).tolist())

    def test_add_scalars_makes_a_run_for_each(self):
        self.written("scalars")
        for name, value in (("train", 0.5), ("test", 0.6)):
            found = tensorboard_events(self.log / f"scalars/both_x_{name}")
            self.assertAlmostEqual(float(found["scalars", "both/x"][0][2]), value, 6)

    def test_purge_step_hides_what_earlier_files_hold(self):
        with sonde.SummaryWriter(self.log, purge_step=0) as writer:  # TensorBoard takes the first for no restart
            for n in range(10):
                writer.add_scalar("x", n, n)
        with sonde.SummaryWriter(self.log, purge_step=4, filename_suffix=".second") as writer:
            writer.add_scalar("x", 40.0, 4)
        self.assertTrue(list(self.log.glob("events.out.tfevents.*.second")))
        self.assertEqual([step for step, _, _ in tensorboard_events(self.log)["scalars", "x"]], [0, 1, 2, 3, 4])
        self.assertEqual(sonde.load(self.log, cache=False)["."].scalars("x").values.tolist(), [0, 1, 2, 3, 40])

    def test_the_default_directory_has_time_host_and_comment(self):
        os.chdir(self.folder)
        with sonde.SummaryWriter(comment="_lr") as writer:
            self.assertRegex(writer.get_logdir(), r"^runs/\w{3}\d\d_\d\d-\d\d-\d\d_.+_lr$")
            self.assertTrue(pathlib.Path(writer.get_logdir()).is_dir())

    def test_wrong_arguments_are_named(self):
        writer = sonde.SummaryWriter(self.log)
        self.addCleanup(writer.close)
        for call, error, words in (
                (lambda: writer.add_scalar(1, 1.0), TypeError, "tag must be a str, not int"),
                (lambda: writer.add_scalar("x", "y"), TypeError, "scalar_value must be a number, not str"),
                (lambda: writer.add_scalar("x", [1.0]), TypeError, "scalar_value must be a number, not list"),
                (lambda: writer.add_scalar("x", 1.0, "one"), TypeError, "global_step must be an int or None, not str"),
                (lambda: writer.add_scalars("x", [1]), TypeError, "tag_scalar_dict"),
                (lambda: writer.add_image("x", numpy.zeros((2, 4, 4))), ValueError, "1, 3 or 4 channels, not 2"),
                (lambda: writer.add_image("x", numpy.zeros((4, 4))), ValueError, "3 dimensions for dataformats 'CHW', not 2"),
                (lambda: writer.add_image("x", numpy.zeros((4, 4)), dataformats="HH"), ValueError, "dataformats"),
                (lambda: writer.add_histogram_raw("x", 0, 1, 1, 1, 1, [1], [1, 2]), ValueError, "same length, not 1 and 2"),
                (lambda: writer.add_video("x", numpy.zeros((2, 2))), ValueError, "vid_tensor"),
                (lambda: writer.add_audio("x", numpy.zeros((2, 2))), ValueError, "snd_tensor must have one dimension, not 2"),
                (lambda: writer.add_embedding(numpy.zeros(3)), ValueError, "mat must have the shape"),
                (lambda: writer.add_embedding(numpy.zeros((3, 2)), ["a"]), ValueError, "metadata must have as many"),
                (lambda: writer.add_pr_curve("x", [0, 1], [0.5]), ValueError, "not 2 and 1"),
                (lambda: writer.add_custom_scalars_marginchart(["a", "b"]), ValueError, "three tags"),
                (lambda: writer.add_hparams([], {}), TypeError, "hparam_dict must be a dict, not list"),
                (lambda: writer.add_hparams({"a": 1}, {}, {"a": ["x"]}), TypeError, "hparam_domain_discrete"),
                (lambda: writer.add_hparams({"a": 1}, {}, run_name=3), TypeError, "run_name must be a str or None, not int"),
                (lambda: writer.add_hparams({"a": [1]}, {}), TypeError, r"hparams\['a'\]"),
                (lambda: writer.add_scalars(1, {"a": 1.0}), TypeError, "main_tag must be a str, not int"),
                (lambda: writer.add_scalars("x", {1: 1.0}), TypeError, "a key of tag_scalar_dict must be a str, not int"),
                (lambda: writer.add_scalar("x", 1.0, 1, "now"), TypeError, "walltime must be a number"),
                (lambda: writer.add_histogram("x", [1.0], "one"), TypeError, "global_step must be an int or None, not str"),
                (lambda: writer.add_histogram("x", [1.0], 1, walltime="now"), TypeError, "walltime must be a number"),
                (lambda: writer.add_histogram(2, [1.0]), TypeError, "tag must be a str, not int"),
                (lambda: writer.add_histogram("x", [float("nan")], bins=3), ValueError, "values has no finite element"),
                (lambda: writer.add_histogram("x", "text"), TypeError, "tensor must be"),
                (lambda: writer.add_image(3, numpy.zeros((3, 4, 4))), TypeError, "tag must be a str, not int"),
                (lambda: writer.add_image("x", "picture.png"), TypeError, "img_tensor must be a tensor"),
                (lambda: writer.add_image_with_boxes("x", numpy.zeros((3, 4, 4)), [1, 2]), ValueError, r"box_tensor must have the shape \[boxes, 4\]"),
                (lambda: writer.add_video("x", numpy.zeros((1, 2, 3, 4, 4)), fps=0), ValueError, "fps must be"),
                (lambda: writer.add_video("x", numpy.zeros((1, 2, 3, 4, 4)), fps="4"), ValueError, "fps must be"),
                (lambda: writer.add_audio("x", [0.5, 0.5], sample_rate="8000"), TypeError, "sample_rate must be an int, not str"),
                (lambda: writer.add_text("x", 3), TypeError, "text_string must be a str, not int"),
                (lambda: writer.add_text(None, "text"), TypeError, "tag must be a str, not NoneType"),
                (lambda: writer.add_embedding([[1.0]], global_step="one"), TypeError, "global_step must be an int or None, not str"),
                (lambda: writer.add_pr_curve("x", [0, 1], [0.5, 0.5], num_thresholds="many"), TypeError, "thresholds must be an int, not str"),
                (lambda: writer.add_custom_scalars([]), TypeError, "layout must be"),
                (lambda: sonde.SummaryWriter(3), TypeError, "log_dir must be a str or a path, not int"),
                (lambda: sonde.SummaryWriter(self.folder / "y", flush_secs="often"), TypeError, "flush_secs must be a number of seconds"),
                (lambda: sonde.SummaryWriter(self.folder / "y", purge_step="all"), TypeError, "purge_step must be the number of a step"),
                (lambda: sonde.SummaryWriter(self.folder / "y", filename_suffix=3), TypeError, "file_suffix must be a str"),
                (lambda: writer.add_tensor("x", "text"), TypeError, "tensor must be"),
                (lambda: writer.add_mesh("x", "text"), TypeError, "vertices must be")):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                call()

    def test_a_closed_writer_raises(self):
        writer = sonde.SummaryWriter(self.log)
        writer.add_scalars("both", {"a": 1.0})
        writer.close()
        writer.close()
        for call in (lambda: writer.add_scalar("x", 1.0), lambda: writer.add_text("x", "y"), writer.flush,
                     lambda: writer.add_embedding([[1.0]]), lambda: writer.add_hparams({}, {}),
                     lambda: writer.add_scalars("both", {"a": 1.0})):
            with self.assertRaisesRegex(ValueError, "the recorder is closed"):
                call()

    def test_it_is_a_recorder_too(self):
        with sonde.SummaryWriter(self.log) as writer:
            with writer.step(1) as step:
                writer.probe("x").record(step, [1.0, 3.0])
        self.assertEqual(sonde.load(self.log, cache=False)["."].statistics("activation/x")["mean"].tolist(), [2])


if __name__ == "__main__":
    unittest.main()
