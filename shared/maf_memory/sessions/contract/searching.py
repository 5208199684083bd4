"""What a search finds, whichever engine searches. How a word is found is the search's own test."""

# ruff: noqa: D102, S101 - tests: the name is the sentence, and they assert

from __future__ import annotations

from datetime import timedelta

from maf_memory.authorship import mark
from maf_memory.sessions.contract.base import MORNING, EngineUnderTest, message, raises, record_of, turn

LOGS = ("Quel format pour les logs ?", "Texte structuré, avec log/slog.")


class SearchContract(EngineUnderTest):
    """The unit is one message; any word counts."""

    async def test_a_hit_says_where_it_stands_and_a_question_brings_its_answer(self) -> None:
        record = record_of(*turn(*LOGS), updated=MORNING + timedelta(hours=1))
        await (await self.open()).create(record)
        found = await (await self.open()).search("format")
        (hit,) = found.hits
        assert (hit.session_id, hit.title, hit.role) == (record.id, LOGS[0], "user")
        assert hit.updated.isoformat() == record.updated.isoformat()
        assert hit.words == ("format",)
        assert "format" in hit.excerpt
        assert hit.answer is not None
        assert "log/slog" in hit.answer
        assert (found.matched, found.searched, list(found.unread)) == (1, 1, [])

    async def test_any_word_is_enough_and_more_words_come_first(self) -> None:
        storage = await self.open()
        one = record_of(*turn("The database is chosen."), updated=MORNING + timedelta(days=1))
        two = record_of(*turn("The database of the deployment is chosen."))
        for record in (one, two, record_of(*turn("Nothing of this."))):
            await storage.create(record)
        found = await storage.search("database deployment")
        assert [hit.session_id for hit in found.hits] == [two.id, one.id]
        assert [hit.words for hit in found.hits] == [("database", "deployment"), ("database",)]

    async def test_of_equal_hits_the_latest_session_comes_first(self) -> None:
        storage = await self.open()
        records = [record_of(*turn("The port."), updated=MORNING + timedelta(minutes=n)) for n in (1, 3, 2)]
        for record in records:
            await storage.create(record)
        found = await storage.search("port")
        assert [hit.session_id for hit in found.hits] == [records[1].id, records[2].id, records[0].id]

    async def test_case_and_accents_do_not_count_and_alternatives_are_words(self) -> None:
        storage = await self.open()
        record = record_of(*turn("La BASE DE DONNÉES est SQLite."))
        await storage.create(record)
        for query in ("donnees", "Données", "sqlite", "database | storage | SQLite"):
            assert [hit.session_id for hit in (await storage.search(query)).hits] == [record.id], query

    async def test_what_the_model_already_has_is_left_out_by_its_content(self) -> None:
        storage = await self.open()
        record = record_of(*turn("The port is 8080."), *turn("The port of the test is 9090."))
        await storage.create(record)
        loaded = await (await self.open()).load(record.id)
        found = await storage.search("port", without=loaded.messages[:2])
        assert [hit.excerpt for hit in found.hits] == ["The port of the test is 9090."]

    async def test_a_limit_bounds_the_hits_and_all_that_matched_are_counted(self) -> None:
        storage = await self.open()
        for _ in range(5):
            await storage.create(record_of(*turn("The port.")))
        found = await storage.search("port", limit=2)
        assert (len(found.hits), found.matched, found.searched) == (2, 5, 5)

    async def test_what_the_program_wrote_for_its_own_sake_is_not_found(self) -> None:
        storage = await self.open()
        hook = message("user", "the port of a hook", additional_properties=mark("mm", "context"))
        await storage.create(record_of(*turn("A question."), hook))
        assert list((await storage.search("port")).hits) == []

    async def test_what_is_changed_or_deleted_is_found_as_it_is_now(self) -> None:
        storage = await self.open()
        changed, deleted = record_of(*turn("The port is 8080.")), record_of(*turn("The port is 9090."))
        for record in (changed, deleted):
            await storage.create(record)
        assert len((await storage.search("port")).hits) == 2
        changed.messages = turn("The socket is 8080.")
        await (await self.open()).save(changed)
        await (await self.open()).delete(deleted.id)
        assert list((await storage.search("port")).hits) == []
        assert [hit.session_id for hit in (await storage.search("socket")).hits] == [changed.id]

    async def test_a_query_without_a_word_is_refused(self) -> None:
        storage = await self.open()
        for query in ("", "  ", "|", "?!"):
            with raises(ValueError):
                await storage.search(query)

    async def test_nothing_found_is_an_answer(self) -> None:
        found = await (await self.open()).search("database")
        assert (list(found.hits), found.matched, found.searched) == ([], 0, 0)
