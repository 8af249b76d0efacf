"""sonde.lightning.Logger and sonde.transformers.Callback in trainings of the real packages, on models made on the spot."""
import logging
import os
import unittest
import warnings

import torch

from watching import Watching, model

import sonde


class Lightning(Watching):
    def fit(self, logger, **options):
        import lightning as L

        class Module(L.LightningModule):
            def __init__(self, width=6):
                super().__init__()
                self.save_hyperparameters()
                self.net = model()

            def training_step(self, batch, index):
                loss = self.net(batch[0]).square().mean()
                self.log("loss", loss)
                return loss

            def validation_step(self, batch, index):
                self.log("val_loss", self.net(batch[0]).square().mean())

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(12, 4)), batch_size=3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="lightning.*")
            warnings.filterwarnings("ignore", message=".*never called: Module")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.filterwarnings("ignore", category=FutureWarning)
            module = Module()
            trainer = L.Trainer(logger=logger, max_epochs=2, accelerator="cpu", enable_progress_bar=False, enable_model_summary=False,
                                enable_checkpointing=False, log_every_n_steps=1, **options)
            trainer.fit(module, data, data)
        return module

    def test_metrics_hyperparameters_and_every_layer(self):
        logger = sonde.lightning.Logger(self.folder, watch={"gradients": "parameters", "weights": True})
        self.fit(logger)
        self.assertEqual(logger.log_dir, str(self.folder / "lightning_logs/version_0"))
        self.log = logger.log_dir
        logger.experiment.close()
        run = self.run_()
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(8)))
        for tag in ("activation/net.0", "activation/net.2.norm", "gradient/net.0.weight", "weight/net.3.bias"):
            self.assertEqual([step for step, _ in self.column(tag)], list(range(8)), tag)
        evaluations = [step for step, _ in self.column("eval/activation/net.0")]
        self.assertEqual(sorted(set(evaluations)), [0, 3, 7])
        from testing import tensorboard_events
        self.assertIn(("hparams", "_hparams_/experiment"), tensorboard_events(self.log))

    def test_versions_are_numbered(self):
        for version in range(2):
            logger = sonde.lightning.Logger(self.folder, "name")
            self.fit(logger, limit_train_batches=1, limit_val_batches=0)
            self.assertEqual(logger.version, version)
            self.assertTrue(os.path.isdir(self.folder / f"name/version_{version}"))
            logger.experiment.close()
        self.assertEqual(sonde.lightning.Logger(self.folder, "name", "mine").log_dir, str(self.folder / "name/mine"))

    def test_without_watch_nothing_is_watched(self):
        logger = sonde.lightning.Logger(self.folder)
        self.fit(logger, limit_train_batches=1, limit_val_batches=0)
        logger.experiment.close()
        self.log = logger.log_dir
        self.assertEqual(self.tags(), set())
        self.assertEqual(len(self.run_().scalars("loss")), 2)

    def test_wrong_arguments_raise_when_the_logger_is_made(self):
        for error, message, arguments in (
                (TypeError, "save_dir must be a str or a path, not NoneType", {"save_dir": None}),
                (TypeError, "name must be a str or None, not int", {"name": 3}),
                (TypeError, "version must be an int, a str or None, not 1.5", {"version": 1.5}),
                (TypeError, "watch must be", {"watch": "net"}),
                (ValueError, "watch: sonde.watch has no argument 'layer'; it has layers, every", {"watch": {"layer": "net"}}),
                (ValueError, "policy:1", {"policy": "[[watch]"}),
                (TypeError, "a sonde.Recorder has no option 'memry'", {"memry": "1MiB"})):
            with self.assertRaisesRegex(error, message):
                sonde.lightning.Logger(**{"save_dir": self.folder, **arguments})
        self.assertEqual(list(self.folder.iterdir()), [])


class Transformers(Watching):
    def test_wrong_arguments_raise(self):
        for error, message, arguments in ((TypeError, "log_dir must be a str or a path, not int", {"log_dir": 3}),
                                          (TypeError, "watch must be True, False or a dict", {"watch": 1}),
                                          (ValueError, "has no argument 'layer'", {"watch": {"layer": "h"}}),
                                          (FileNotFoundError, "none.toml", {"policy": "none.toml"}),
                                          (TypeError, "a sonde.Recorder has no option 'memry'", {"memry": "1MiB"})):
            with self.assertRaisesRegex(error, message):
                sonde.transformers.Callback(**arguments)

    def test_a_language_model(self):
        os.environ["HF_HUB_OFFLINE"] = "1"
        import transformers
        transformers.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        config = transformers.GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
        net = transformers.GPT2LMHeadModel(config)
        data = [{"input_ids": torch.arange(8) % 16, "labels": torch.arange(8) % 16} for _ in range(8)]
        arguments = transformers.TrainingArguments(str(self.folder / "out"), per_device_train_batch_size=2, num_train_epochs=2,
                                                   gradient_accumulation_steps=2, logging_steps=1, report_to=[], save_strategy="no",
                                                   eval_strategy="epoch", use_cpu=True, disable_tqdm=True)
        callback = sonde.transformers.Callback(self.log, watch={"gradients": "parameters"})
        trainer = transformers.Trainer(net, arguments, train_dataset=data, eval_dataset=data[:2], callbacks=[callback])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer.train()
        callback.recorder.close()
        run = self.run_()
        self.assertEqual(run.scalars("train/loss").steps.tolist(), [1, 2, 3, 4])
        self.assertEqual(run.scalars("eval/loss").steps.tolist(), [2, 4])
        for tag in ("activation/transformer.h.0.mlp.c_fc", "activation/transformer.h.0.mlp.c_fc#1", "activation/lm_head",
                    "gradient/transformer.wte.weight"):
            self.assertEqual([step for step, _ in self.column(tag)], [0, 1, 2, 3], tag)
        self.assertTrue(self.column("eval/activation/lm_head"))
        self.assertIsNone(callback.watched)
        self.assertFalse(any(module._forward_hooks for module in net.modules()))


if __name__ == "__main__":
    unittest.main()
