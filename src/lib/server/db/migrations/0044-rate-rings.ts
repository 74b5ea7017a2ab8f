import type { Migration } from '../migrate.ts';

/**
 * Finds the hits that count without reading them all. The hits of a subject form a ring of slots, oldest first; its head
 * knows the first that counts and the next. The counts start again, as after a crash of the database.
 */
export const rateRings: Migration = {
	name: '0044-rate-rings',
	statements: ({ sqlite }) => (sqlite ? [] : POSTGRES)
};

const POSTGRES = [
	`delete from rate_heads`,
	`alter table rate_heads
		add column first bigint not null default 0,
		add column next bigint not null default 0,
		add column ring integer not null default 1`,
	// The row lock on the subject's head queues requests of this caller only.
	`create or replace function take_rate(wanted text, most integer, span interval,
		out admitted boolean, out remaining integer, out reset_ms double precision)
	language plpgsql as $$
	declare
		head rate_heads;
		moment timestamptz;
		oldest timestamptz;
	begin
		loop
			select * into head from rate_heads where subject = wanted for update;
			exit when found;
			insert into rate_heads (subject, asked_at) values (wanted, clock_timestamp()) on conflict do nothing;
		end loop;
		moment := clock_timestamp();
		loop
			oldest := null;
			exit when head.first = head.next;
			select at into oldest from rate_hits where subject = wanted and slot = head.first % head.ring;
			exit when oldest > moment - span;
			head.first := head.first + 1;
		end loop;
		if oldest is null then
			head.first := 0;
			head.next := 0;
			head.ring := greatest(most, 1);
		elsif head.ring < most then
			with counted as (delete from rate_hits where subject = wanted returning at)
				insert into rate_hits (subject, slot, at)
				select wanted, row_number() over (order by at) - 1, at from counted where at > moment - span;
			get diagnostics head.next = row_count;
			head.first := 0;
			head.ring := most;
		end if;
		admitted := head.next - head.first < most;
		if admitted then
			update rate_hits set at = moment where subject = wanted and slot = head.next % head.ring;
			if not found then
				insert into rate_hits (subject, slot, at) values (wanted, head.next % head.ring, moment);
			end if;
			head.next := head.next + 1;
		end if;
		update rate_heads set asked_at = moment, first = head.first, next = head.next, ring = head.ring
			where subject = wanted;
		remaining := greatest(most - (head.next - head.first), 0);
		reset_ms := extract(epoch from coalesce(oldest, moment) + span - moment) * 1000;
	end $$`,
	// In one round trip, and like single calls: a limit after a refusal does not count the request.
	`create function take_rates(wanted text[], most integer[], span interval)
	returns table (admitted boolean, remaining integer, reset_ms double precision)
	language plpgsql as $$
	begin
		for i in 1 .. array_length(wanted, 1) loop
			select * into admitted, remaining, reset_ms from take_rate(wanted[i], most[i], span);
			return next;
			exit when not admitted;
		end loop;
	end $$`
];
