"""Question: the smallest hardware that reaches a throughput, by models, and by place and route."""
