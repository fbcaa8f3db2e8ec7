# Thin over dev.py, which needs nothing but Python 3.11 to 3.13. ARGS are handed on: make demo ARGS=--check
DEV = python3 $(dir $(abspath $(lastword $(MAKEFILE_LIST))))dev.py --under-make

MAKEFLAGS += --no-print-directory

.PHONY: demo test bench setup
.DEFAULT_GOAL := demo

demo test bench setup:
	@$(DEV) $@ $(ARGS)
