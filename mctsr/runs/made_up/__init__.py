"""What a model might say: replies of typical length, for runs that ask nobody."""
