"""The input: files and live sources as rows of a plan's scans."""
