"""Turns and services as OpenTelemetry traces."""
