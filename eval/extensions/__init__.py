"""Extensions of the evaluation: names that installed packages add, and objects of the user's process."""
