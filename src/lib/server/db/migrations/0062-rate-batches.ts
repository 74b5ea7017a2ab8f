import type { Migration } from '../migrate.ts';

/**
 * Takes the limits of several requests in one call. No plan reads the whole table: a function keeps the plan that it made
 * while the table was small.
 */
export const rateBatches: Migration = {
	name: '0062-rate-batches',
	statements: ({ sqlite }) => (sqlite ? [] : POSTGRES)
};

const POSTGRES = [
	// The processes of the version before this one call it.
	`alter function take_rates(text[], integer[], interval) set enable_seqscan = off`,
	// One row per limit. Like single calls: a limit after a refusal of the same request does not count it (nulls).
	`create function take_rates(request integer[], wanted text[], most integer[], span_ms double precision[])
	returns table (admitted boolean, remaining integer, reset_ms double precision)
	language plpgsql set enable_seqscan = off as $$
	declare
		refused integer;
	begin
		-- Every call locks in the same order (of the version before, a key, then its account), so that none waits for
		-- another that waits for it.
		insert into rate_heads (subject, asked_at)
			select distinct subject, clock_timestamp() from unnest(wanted) subject order by subject desc
			on conflict do nothing;
		perform 1 from rate_heads where subject = any (wanted) order by subject desc for update;
		for i in 1 .. array_length(wanted, 1) loop
			admitted := null;
			remaining := null;
			reset_ms := null;
			if request[i] is distinct from refused then
				select * into admitted, remaining, reset_ms
					from take_rate(wanted[i], most[i], make_interval(secs => span_ms[i] / 1000));
				if not admitted then
					refused := request[i];
				end if;
			end if;
			return next;
		end loop;
	end $$`
];
