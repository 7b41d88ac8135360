"""Parameters into results: one file an experiment, and the table of them all."""

from app.experiments import accumulation, agreement, microbatch, momentum, summation
from app.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        momentum.EXPERIMENT,
        summation.EXPERIMENT,
        accumulation.EXPERIMENT,
        microbatch.EXPERIMENT,
        agreement.EXPERIMENT,
    )
}
