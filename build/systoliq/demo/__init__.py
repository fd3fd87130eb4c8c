"""The main job on real input, from training to Verilog that was compared on every output."""
