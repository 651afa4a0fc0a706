"""Accounts: who may come in, by which link, with which password, and what they did."""
