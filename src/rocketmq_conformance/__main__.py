"""``python -m rocketmq_conformance`` is the console script."""

from rocketmq_conformance.conformance.cli.main import main

if __name__ == "__main__":
    main()
