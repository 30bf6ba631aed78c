"""Answers with parts: taken apart, put in pairs, and verdicts on parts added up."""
