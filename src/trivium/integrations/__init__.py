"""The library as other frameworks want it. Each file imports its framework, so import the one you
have: `trivium.integrations.langchain` or `trivium.integrations.llamaindex`.
"""
