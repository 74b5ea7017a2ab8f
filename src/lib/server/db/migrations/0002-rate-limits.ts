import type { Migration } from '../migrate.ts';

/**
 * Implements the sliding window of rate-limits/window.ts for processes that share a PostgreSQL. A request takes one
 * round trip and uses the database's clock. The tables are unlogged: no commit waits for the disk, and a crash of the
 * database resets the counts. SQLite has one process, which counts in memory.
 */
export const rateLimits: Migration = {
	name: '0002-rate-limits',
	statements: ({ sqlite }) => (sqlite ? [] : POSTGRES)
};

const POSTGRES = [
	`create unlogged table rate_heads (
		subject text primary key,
		asked_at timestamptz not null
	)`,
	`create unlogged table rate_hits (
		subject text not null references rate_heads (subject) on delete cascade,
		slot integer not null,
		at timestamptz not null,
		primary key (subject, slot)
	)`,
	// The row lock on the subject's head queues requests of this caller only.
	`create function take_rate(wanted text, most integer, span interval,
		out admitted boolean, out remaining integer, out reset_ms double precision)
	language plpgsql as $$
	declare
		moment timestamptz;
		counted integer;
		slots integer;
		free integer;
		oldest timestamptz;
	begin
		insert into rate_heads (subject, asked_at) values (wanted, clock_timestamp())
			on conflict (subject) do update set asked_at = excluded.asked_at;
		moment := clock_timestamp();
		select count(*), count(*) filter (where at > moment - span), min(at) filter (where at > moment - span),
				min(slot) filter (where at <= moment - span)
			into slots, counted, oldest, free
			from rate_hits where subject = wanted;
		admitted := counted < most;
		if admitted then
			insert into rate_hits (subject, slot, at) values (wanted, coalesce(free, slots), moment)
				on conflict (subject, slot) do update set at = moment;
			counted := counted + 1;
		end if;
		remaining := greatest(most - counted, 0);
		reset_ms := extract(epoch from coalesce(oldest, moment) + span - moment) * 1000;
	end $$`
];
