/** On SQLite the writes of one process follow each other; PostgreSQL takes them at once. */
import { expect, it } from 'vitest';
import { useFixture } from '../../../support/server/fixture.ts';

const COUNT = `create function count_use() returns trigger language plpgsql
	as $$ begin insert into uses values (1); return new; end $$`;

const fixture = useFixture({ database: 'postgres' });

it('requests at once write the last use of their key once a minute', async () => {
	const { newKey, server, sql } = fixture();
	const { api } = await newKey();
	await sql.run('create table uses (one integer)');
	await sql.run(COUNT);
	await sql.run(
		'create trigger uses after update of last_used_at on api_keys for each row execute function count_use()'
	);
	for (const minute of [1, 2]) {
		await Promise.all(Array.from({ length: 20 }, () => api.getRouter(1)));
		expect(await sql.count('select count(*) from uses')).toBe(minute);
		await server.advance(61_000);
	}
});
