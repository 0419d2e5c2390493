"""Models of Amazon Bedrock: who turns text into vectors, judges passages and writes, at Amazon's.

`client` asks; `embedder`, `reranker` and `generator` are thin over it. boto3 comes with the extra.
"""
