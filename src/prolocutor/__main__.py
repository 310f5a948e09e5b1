"""`python -m prolocutor` is the command `prolocutor`."""

from prolocutor.cli.main import main

if __name__ == "__main__":
    main()
