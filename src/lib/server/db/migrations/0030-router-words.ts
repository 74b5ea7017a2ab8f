import type { Migration } from '../migrate.ts';

/** Finds routers by the start of words of their name, address or network. */
export const routerWords: Migration = {
	name: '0030-router-words',
	statements: ({ sqlite }) => (sqlite ? SQLITE : POSTGRES)
};

/** An FTS5 index without the texts, which triggers keep in step. */
const SQLITE = [
	`create virtual table router_words using fts5 (words, content = '', contentless_delete = 1,
		tokenize = 'unicode61 remove_diacritics 2')`,
	`insert into router_words (rowid, words)
		select id, name || ' ' || coalesce(address, '') || ' ' || ssid from routers`,
	`create trigger routers_words_insert after insert on routers begin
		insert into router_words (rowid, words)
			values (new.id, new.name || ' ' || coalesce(new.address, '') || ' ' || new.ssid);
	end`,
	`create trigger routers_words_update after update of name, address, ssid on routers begin
		update router_words set words = new.name || ' ' || coalesce(new.address, '') || ' ' || new.ssid
			where rowid = new.id;
	end`,
	`create trigger routers_words_delete after delete on routers begin
		delete from router_words where rowid = old.id;
	end`
];

/** The extension `unaccent` is not installed everywhere. Unicode normalization needs the encoding UTF8. */
const POSTGRES = [
	String.raw`create function without_accents(words text) returns text language sql immutable strict parallel safe as $$
		select case when getdatabaseencoding() = 'UTF8'
			then regexp_replace(normalize(words, NFKD), '[\u0300-\u036f\u064b-\u065f]', '', 'g') else words end
	$$`,
	`create index routers_words on routers using gin
		(to_tsvector('simple', without_accents(name || ' ' || coalesce(address, '') || ' ' || ssid)))`
];
