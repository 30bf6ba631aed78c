"""What a server is found to do: each module asks it something tiny and looks at what comes back."""
