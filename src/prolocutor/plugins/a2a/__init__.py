"""The Agent2Agent protocol both ways: other agents as skills, and the assistant as an agent."""
