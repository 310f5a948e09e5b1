"""What an input means while something is asked, and what a reply asks for."""
