"""What to try: operations with their value domains, bound to the models that answer them."""
