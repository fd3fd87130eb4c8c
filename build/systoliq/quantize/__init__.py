"""Quantization of float ONNX models for the hardware, by onnxruntime's static quantizer."""
