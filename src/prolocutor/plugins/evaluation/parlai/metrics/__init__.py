"""Metrics of dialogs: ParlAI's numbers under ParlAI's names, and ours beside them."""

from prolocutor.plugins.evaluation.parlai.metrics.area_under_curve import AUCMetrics as AUCMetrics
from prolocutor.plugins.evaluation.parlai.metrics.averages import AverageMetric as AverageMetric
from prolocutor.plugins.evaluation.parlai.metrics.averages import (
    GlobalAverageMetric as GlobalAverageMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.averages import LegacyMetric as LegacyMetric
from prolocutor.plugins.evaluation.parlai.metrics.averages import (
    MacroAverageMetric as MacroAverageMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.averages import PPLMetric as PPLMetric
from prolocutor.plugins.evaluation.parlai.metrics.estimates import Estimate as Estimate
from prolocutor.plugins.evaluation.parlai.metrics.estimates import bootstrap as bootstrap
from prolocutor.plugins.evaluation.parlai.metrics.estimates import (
    estimate_difference as estimate_difference,
)
from prolocutor.plugins.evaluation.parlai.metrics.estimates import estimate_mean as estimate_mean
from prolocutor.plugins.evaluation.parlai.metrics.estimates import estimate_share as estimate_share
from prolocutor.plugins.evaluation.parlai.metrics.estimates import measure_rows as measure_rows
from prolocutor.plugins.evaluation.parlai.metrics.estimates import (
    report_estimates as report_estimates,
)
from prolocutor.plugins.evaluation.parlai.metrics.metric import FixedMetric as FixedMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import (
    GlobalFixedMetric as GlobalFixedMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.metric import GlobalMetric as GlobalMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import GlobalSumMetric as GlobalSumMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import (
    GlobalTimerMetric as GlobalTimerMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric as Metric
from prolocutor.plugins.evaluation.parlai.metrics.metric import SumMetric as SumMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import TimerMetric as TimerMetric
from prolocutor.plugins.evaluation.parlai.metrics.names import ALL_METRICS as ALL_METRICS
from prolocutor.plugins.evaluation.parlai.metrics.names import BLEU_METRICS as BLEU_METRICS
from prolocutor.plugins.evaluation.parlai.metrics.names import DEFAULT_METRICS as DEFAULT_METRICS
from prolocutor.plugins.evaluation.parlai.metrics.names import DISTINCT_METRICS as DISTINCT_METRICS
from prolocutor.plugins.evaluation.parlai.metrics.names import ROUGE_METRICS as ROUGE_METRICS
from prolocutor.plugins.evaluation.parlai.metrics.names import check_names as check_names
from prolocutor.plugins.evaluation.parlai.metrics.reports import (
    aggregate_named_reports as aggregate_named_reports,
)
from prolocutor.plugins.evaluation.parlai.metrics.reports import (
    aggregate_unnamed_reports as aggregate_unnamed_reports,
)
from prolocutor.plugins.evaluation.parlai.metrics.reports import dict_report as dict_report
from prolocutor.plugins.evaluation.parlai.metrics.reports import observed_metric as observed_metric
from prolocutor.plugins.evaluation.parlai.metrics.reports import reported_metric as reported_metric
from prolocutor.plugins.evaluation.parlai.metrics.teacher_metrics import Metrics as Metrics
from prolocutor.plugins.evaluation.parlai.metrics.teacher_metrics import (
    TeacherMetrics as TeacherMetrics,
)
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import BleuMetric as BleuMetric
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import (
    ExactMatchMetric as ExactMatchMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import F1Metric as F1Metric
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import (
    InterDistinctMetric as InterDistinctMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import (
    IntraDistinctMetric as IntraDistinctMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import RougeMetric as RougeMetric
from prolocutor.plugins.evaluation.parlai.metrics.text_scores import (
    normalize_answer as normalize_answer,
)
from prolocutor.plugins.evaluation.parlai.metrics.token_bleu import (
    FairseqBleuMetric as FairseqBleuMetric,
)
