"""The PostgreSQL store: a database, any number of replicas."""
