"""Campaigns: many seeded cases, spread over Spark's workers, kept as Parquet tables, and compared.

A part imports only what stands above it in this list, and itself:

==================================================  ================================================================
``spec``, ``schedule``                              what a campaign was asked for, and the blocks of cases it plays
``tables/``                                         the campaign's folder: schemas, blocks on disk, reading them again
``player/``                                         the process that plays blocks, and its supervisor
``spark/``                                          blocks spread over the workers of a Spark session
``enumeration``                                     every plan up to a bound, searched and played by a session
``analysis/``                                       what stored campaigns show: clusters, coverage, differences
``progress``, ``finish``, ``driver``, ``promote``   one session of a campaign, from its first block to its verdict
``api``                                             a campaign as a library call
==================================================  ================================================================
"""
