"""Machine judges."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.judges.calibration import LEAST_KAPPA as LEAST_KAPPA
    from karat.judging.judges.calibration import LEAST_PAIRS as LEAST_PAIRS
    from karat.judging.judges.calibration import Calibration as Calibration
    from karat.judging.judges.calibration import CalibrationTable as CalibrationTable
    from karat.judging.judges.calibration import calibrate as calibrate
    from karat.judging.judges.chat import ChatJudge as ChatJudge
    from karat.judging.judges.endpoint import Endpoint as Endpoint
    from karat.judging.judges.endpoint import read_endpoint as read_endpoint
    from karat.judging.judges.judge import Judge as Judge
    from karat.judging.judges.judge import Question as Question
    from karat.judging.judges.judge import Verdict as Verdict
    from karat.judging.judges.keeping import calibration_of as calibration_of
    from karat.judging.judges.keeping import calibrations as calibrations
    from karat.judging.judges.of_run import judge_of_run as judge_of_run
    from karat.judging.judges.of_run import kept_judge as kept_judge
    from karat.judging.judges.of_run import learn_judge as learn_judge
    from karat.judging.judges.prompt import load_prompt as load_prompt
    from karat.judging.judges.scoring import ScoringJudge as ScoringJudge
    from karat.judging.judges.working import calibrate_in as calibrate_in
    from karat.judging.judges.working import judge_in as judge_in

__all__, __getattr__, __dir__ = exports(__name__, __file__)
