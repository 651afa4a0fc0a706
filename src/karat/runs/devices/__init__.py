"""Devices of the one pass, one file each; they register themselves in `karat.runs.device.DEVICES`."""
