"""What people are asked: forms and their files."""
