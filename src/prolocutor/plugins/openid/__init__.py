"""Signing in with an identity provider (OpenID Connect Core 1.0, the authorization code flow)."""
