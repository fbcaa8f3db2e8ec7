"""The benchmarks of docs/benchmarks.md; each module has a table `BENCHMARKS` of name and function."""
