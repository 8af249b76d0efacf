"""sonde embed: maps of points, compared with NumPy."""

import json
import os
import unittest

import numpy as np

from command import Case


def clusters(points, features, count=5):
    random = np.random.default_rng(1)
    centers = random.normal(size=(count, features)) * 6
    labels = np.arange(points) % count
    return (centers[labels] + random.normal(size=(points, features))).astype(np.float32), labels


def purity(layout, labels):
    """The share of points whose nearest neighbour in the map has the same label."""
    distances = ((layout[:, None, :] - layout[None, :, :]) ** 2).sum(-1)
    np.fill_diagonal(distances, np.inf)
    return (labels[distances.argmin(1)] == labels).mean()


class Embed(Case):
    def embed(self, *arguments):
        done = self.run_sonde("embed", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def assert_error(self, *arguments, says):
        done = self.run_sonde("embed", *arguments)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(says, done.stderr)

    def test_pca_is_that_of_numpy(self):
        points = clusters(300, 20)[0] + 50
        self.embed(self.save("points.npy", points), "--dims", "3", "-o", self.path("map.npy"))
        layout = np.load(self.path("map.npy"))
        centered = points.astype(np.float64) - points.mean(0, dtype=np.float64)
        expected = np.linalg.svd(centered, full_matrices=False)
        self.assertEqual(layout.shape, (300, 3))
        for axis in range(3):
            wanted = centered @ expected.Vh[axis]
            sign = np.sign(wanted @ layout[:, axis])
            np.testing.assert_allclose(layout[:, axis], sign * wanted, atol=1e-3)
        said = json.loads(self.embed(self.path("points.npy"), "--dims", "3", "--json").stdout)
        shares = expected.S ** 2 / (expected.S ** 2).sum()
        np.testing.assert_allclose(said["explained_variance"], shares[:3], rtol=1e-4)
        self.assertEqual((said["points"], said["features"], said["dims"]), (300, 20, 3))

    def test_tsne_and_umap_keep_clusters_together_and_say_how_well(self):
        points, labels = clusters(400, 12)
        file = self.save("points.npy", points)
        for method in ("tsne", "umap"):
            said = json.loads(self.embed(file, "--method", method, "--iterations", "200", "--json", "-o", self.path("map.npy")).stdout)
            self.assertGreater(purity(np.load(self.path("map.npy")), labels), 0.99)
            self.assertGreater(said["trustworthiness"], 0.9)
            self.assertEqual(said["trustworthiness_points"], 400)
            self.assertEqual(said["kl_divergence"] is not None, method == "tsne")

    def test_a_seed_gives_the_same_map_with_any_number_of_threads(self):
        file = self.save("points.npy", clusters(200, 8)[0])
        for method in ("pca", "tsne", "umap"):
            maps = [self.embed(file, "--method", method, "--iterations", "50", "--threads", threads).stdout for threads in ("1", "3")]
            self.assertEqual(maps[0], maps[1])
            self.assertEqual(len(maps[0].splitlines()), 200)

    def test_csv_has_a_header_and_tsv_has_none(self):
        file = self.save("points.npy", clusters(50, 4)[0])
        self.embed(file, "-o", self.path("map.csv"))
        self.embed(file, "-o", self.path("map.tsv"))
        with open(self.path("map.csv"), encoding="ascii") as written:
            self.assertEqual(written.readline(), "x,y\n")
        csv = np.loadtxt(self.path("map.csv"), delimiter=",", skiprows=1)
        np.testing.assert_array_equal(csv, np.loadtxt(self.path("map.tsv"), delimiter="\t"))

    def projector(self, metadata="name\tgroup\n" + "".join(f"p{i}\t{i % 5}\n" for i in range(60)), tensor="t.tsv"):
        os.makedirs(self.path("data"), exist_ok=True)
        points = clusters(60, 6)[0]
        np.savetxt(self.path("data/t.tsv"), points, delimiter="\t", fmt="%.9g")
        points.tofile(self.path("data/t.bytes"))
        with open(self.path("data/m.tsv"), "w", encoding="utf-8") as file:
            file.write(metadata)
        with open(self.path("data/projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write(f'# made by a test\nembeddings {{ tensor_name: "words"\n tensor_path: "{tensor}" tensor_shape: [60, 6]\n'
                       ' metadata_path: "m.tsv" sprite { image_path: "s.png" single_image_dim: 8 single_image_dim: 8 } }\n')
        return points

    def test_projector_data_is_read_as_text_and_as_bytes_and_written(self):
        points = self.projector()
        from_text = self.embed("data").stdout
        self.projector(tensor="t.bytes")
        self.assertEqual(self.embed("data", "--tensor", "words").stdout, from_text)
        self.assertEqual(self.embed(self.save("points.npy", points)).stdout, from_text)
        self.embed("data", "-o", "made/")
        self.assertEqual(self.embed("made", "--dims", "2").returncode, 0)
        with open(self.path("data/m.tsv"), encoding="utf-8") as before, open(self.path("made/metadata.tsv"), encoding="utf-8") as after:
            self.assertEqual(before.read(), after.read())
        self.assert_error("data", "-o", "made/", says="exists already")

    def test_projector_paths_that_leave_the_directory_are_refused(self):
        self.save("secret.npy", np.zeros((3, 3)))
        for path in ("../secret.npy", self.path("secret.npy")):
            self.projector(tensor=path)
            self.assert_error("data", says="outside of the directory")
        os.symlink("../secret.npy", self.path("data/link.tsv"))
        self.projector(tensor="link.tsv")
        self.assert_error("data", says="outside of the directory")

    def test_metadata_of_the_wrong_length_is_said_and_left_out(self):
        self.projector(metadata="a\nb\n")
        done = self.embed("data")
        self.assertIn("has 2 rows of metadata, but there are 60 points", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 60)

    def test_a_configuration_that_is_none_is_an_error(self):
        self.projector()
        with open(self.path("data/projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write("embeddings {\n tensor_name: }\n")
        self.assert_error("data", says="line 2")

    def test_bad_points_are_named(self):
        points = clusters(50, 4)[0]
        bad = points.copy()
        bad[7, 2] = np.nan
        self.assert_error(self.save("bad.npy", bad), says="the first is row 7")
        self.assert_error(self.save("one.npy", points[:1]), says="at least 2")
        self.assert_error(self.save("one.npy", points[:1]), "--method", "tsne", says="at least 4 points")
        self.assert_error(self.save("none.npy", points[:0]), says="no rows")
        self.assert_error(self.save("flat.npy", points[:, 0]), says="1 axes")
        self.assert_error(self.save("narrow.npy", points[:, :0]), says="no columns")
        self.assert_error(self.save("good.npy", points), "--dims", "5", says="ask for at most 4")
        self.assert_error(self.save("good.npy", points), "--dims", "4", "--method", "tsne", says="2 or 3 dimensions")
        self.assert_error(self.save("good.npy", points), "-o", self.path("map.jpg"), says=".npy, .csv, .tsv")
        self.assert_error(self.save("complex.npy", points.astype(np.complex64)), says="complex")
        self.assert_error(self.folder, says="projector_config.pbtxt")
        self.assert_error("missing.npy", says="missing.npy")

    def test_constant_columns_and_duplicates_have_a_map(self):
        points = np.ones((40, 3), np.float32)
        points[:, 1] = np.arange(40) % 2
        for method in ("pca", "tsne", "umap"):
            self.embed(self.save("points.npy", points), "--method", method, "--iterations", "50", "-o", self.path("map.npy"))
            self.assertTrue(np.isfinite(np.load(self.path("map.npy"))).all())

    def test_few_points_lower_the_perplexity_and_say_so(self):
        done = self.embed(self.save("points.npy", clusters(10, 4)[0]), "--method", "tsne", "--iterations", "20")
        self.assertIn("the perplexity is 3", done.stderr)


if __name__ == "__main__":
    unittest.main()
