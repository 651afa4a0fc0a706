"""What is judged: the pairs that several systems suggest, and what judging them costs."""
