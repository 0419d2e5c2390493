"""How a question is answered from passages: searched, read, written, cited, checked, or refused."""
