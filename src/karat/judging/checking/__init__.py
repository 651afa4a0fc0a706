"""What the answers are worth: people, known pairs, agreement, and one verdict out of several."""
