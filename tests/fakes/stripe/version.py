"""The one version of the API that is played."""

PINNED = "2026-10-28.endive"
