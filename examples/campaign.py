"""A campaign for ``spark-submit``: the words of the command line, on the cluster that spark-submit is told.

Try it with the address of your cluster, and a folder that all machines of it share::

    spark-submit --master spark://HOST:7077 examples/campaign.py port --cases 100000 --out /shared/nightly

``spark-submit`` is among the programs of the installed PySpark. PYSPARK_PYTHON names the Python of the driver and of
the workers: one that has ``rocketmq-conformance[spark]``. Workers get the kit itself from the driver.
"""

from __future__ import annotations

import sys

from rocketmq_conformance import main

if __name__ == "__main__":
    sys.argv[1:1] = ["campaign"]
    main()
