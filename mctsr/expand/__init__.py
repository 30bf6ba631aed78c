"""What could come next: each module asks the model for drafts in one way."""
