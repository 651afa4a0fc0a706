"""Machine judges: models that answer about pairs, once they were compared with people."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.machine_judges.calibration import MIN_KAPPA as MIN_KAPPA
    from karat.judging.machine_judges.calibration import MIN_PAIRS as MIN_PAIRS
    from karat.judging.machine_judges.calibration import Calibration as Calibration
    from karat.judging.machine_judges.calibration import CalibrationTable as CalibrationTable
    from karat.judging.machine_judges.calibration import calibrate as calibrate
    from karat.judging.machine_judges.calibration import calibration_of as calibration_of
    from karat.judging.machine_judges.calibration import calibrations as calibrations
    from karat.judging.machine_judges.chat_judge import ChatJudge as ChatJudge
    from karat.judging.machine_judges.chat_judge import load_prompt as load_prompt
    from karat.judging.machine_judges.endpoint import Endpoint as Endpoint
    from karat.judging.machine_judges.endpoint import read_endpoint as read_endpoint
    from karat.judging.machine_judges.judge import Judge as Judge
    from karat.judging.machine_judges.judge import Question as Question
    from karat.judging.machine_judges.judge import Reply as Reply
    from karat.judging.machine_judges.judge_kinds import JUDGES as JUDGES
    from karat.judging.machine_judges.judge_kinds import JudgeKind as JudgeKind
    from karat.judging.machine_judges.judge_kinds import make_judge as make_judge
    from karat.judging.machine_judges.judge_kinds import register_judge as register_judge
    from karat.judging.machine_judges.scoring_judge import ScoringJudge as ScoringJudge
    from karat.judging.machine_judges.scoring_judge import check_thresholds as check_thresholds
    from karat.judging.machine_judges.scoring_judge import judge_of_run as judge_of_run
    from karat.judging.machine_judges.scoring_judge import kept_judge as kept_judge
    from karat.judging.machine_judges.scoring_judge import learn_judge as learn_judge
    from karat.judging.machine_judges.work import calibrate_in as calibrate_in
    from karat.judging.machine_judges.work import judge_in as judge_in

__all__, __getattr__, __dir__ = exports(__name__, __file__)
