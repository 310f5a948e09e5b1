"""ACP (Agent Client Protocol): the assistant as an agent of editors, over stdio."""
