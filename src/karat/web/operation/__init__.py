"""Running the web for long: health, figures for Prometheus, logs without secrets, and an orderly end."""
