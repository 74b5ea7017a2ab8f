import type { Migration } from '../migrate.ts';

/**
 * The sliding window of rate-limits/window.ts for several processes that share a PostgreSQL: the same ring, with
 * the database's clock, in one round trip. The tables are unlogged: after a crash of the database the count starts
 * anew, and no commit waits for the disk. SQLite has one process, which counts in memory.
 */
export const rateLimits: Migration = {
	name: '0002-rate-limits',
	statements: (kind) => (kind === 'sqlite' ? [] : POSTGRES)
};

const POSTGRES = [
	`create unlogged table rate_heads (
		subject text primary key,
		head integer not null
	)`,
	`create unlogged table rate_hits (
		subject text not null,
		slot integer not null,
		at timestamptz not null,
		primary key (subject, slot)
	)`,
	// The row lock on the subject's head puts requests of one caller in a row; others do not wait for it.
	`create function take_rate(wanted text, most integer, span interval,
		out admitted boolean, out remaining integer, out reset_ms double precision)
	language plpgsql as $$
	declare
		place integer;
		moment timestamptz;
		oldest timestamptz;
	begin
		insert into rate_heads as h (subject, head) values (wanted, 0)
			on conflict (subject) do update set head = h.head
			returning head % most into place;
		moment := clock_timestamp();
		select at into oldest from rate_hits where subject = wanted and slot = place;
		admitted := oldest is null or oldest <= moment - span;
		if admitted then
			insert into rate_hits (subject, slot, at) values (wanted, place, moment)
				on conflict (subject, slot) do update set at = moment;
			update rate_heads set head = (place + 1) % most where subject = wanted;
		end if;
		select greatest(most - count(*), 0), coalesce(extract(epoch from min(at) + span - moment) * 1000, 0)
			into remaining, reset_ms
			from rate_hits where subject = wanted and slot < most and at > moment - span;
	end $$`
];
