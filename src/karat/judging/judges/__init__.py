"""Machine judges."""

from karat.exports import lazily

_HOME = {
    "Calibration": "karat.judging.judges.calibration",
    "ChatJudge": "karat.judging.judges.chat",
    "Endpoint": "karat.judging.judges.endpoint",
    "Judge": "karat.judging.judges.judge",
    "Question": "karat.judging.judges.judge",
    "ScoringJudge": "karat.judging.judges.scoring",
    "Verdict": "karat.judging.judges.judge",
    "calibrate": "karat.judging.judges.calibration",
    "read_endpoint": "karat.judging.judges.endpoint",
}
__all__ = sorted(_HOME)
__getattr__ = lazily(__name__, _HOME)
