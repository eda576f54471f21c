"""Players share out servers among them."""

from __future__ import annotations

from pathlib import Path

from rocketmq_conformance.conformance.campaign.player.taken_servers import TakenServers


def test_every_player_has_its_own_server_and_one_that_ends_gives_it_back(tmp_path: Path) -> None:
    one, other, late = TakenServers(), TakenServers(), TakenServers()
    assert one.take(["a", "b"], tmp_path) == "a"
    assert other.take(["a", "b"], tmp_path) == "b"
    one.close()
    assert late.take(["a", "b"], tmp_path) == "a"


def test_more_players_than_servers_share_them(tmp_path: Path) -> None:
    players = [TakenServers() for _ in range(3)]
    assert [player.take(["a"], tmp_path) for player in players] == ["a"] * 3
