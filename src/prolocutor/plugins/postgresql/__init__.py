"""The PostgreSQL store: one database, any number of replicas."""
