import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { KEPT_PREFIX } from './backup.ts';
import { CITY_NUMBER, applyMissing, lockMigrations, startIds } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { refuse } from '#lib/server/platform/errors.ts';

/**
 * Cities of one PostgreSQL database: each is an installation in a schema of its own, which its processes name in
 * DATABASE_URL. Its number starts its ids, so that none is in two cities.
 */

export interface City {
	name: string;
	number: number;
}

/** Keeps ids below 2^53. */
const MAX_NUMBER = 90_000;

/**
 * Makes a city, all or nothing.
 * @param wanted its number; the next one by default
 * @throws Refused
 */
export async function addCity(url: string, name: string, wanted?: number): Promise<City> {
	if (url.startsWith('file:')) throw refuse('DATABASE_URL names no PostgreSQL database for cities.');
	if (!/^[a-z][a-z0-9_]{0,39}$/.test(name) || /^(pg_|public$|before_restore_)/.test(name)) {
		throw refuse(`"${name}" is no name of a city: small letters, digits and _, such as "kampala".`);
	}
	const database = openPostgres(url, { poolSize: 1 });
	try {
		return await database.db.transaction().execute(async (trx) => {
			// In the schema of another city, another one is added.
			await lockMigrations(trx, '');
			const { rows } = await sql`select 1 where current_user = ${name}`.execute(trx);
			// The default search_path is "$user", public: an installation in "public" would be this city at once.
			if (rows.length > 0) throw refuse(`"${name}" is the database user: choose another name.`);
			const cities = await readCities(trx);
			const number = wanted ?? Math.max(0, ...cities.map((city) => city.number)) + 1;
			const known = cities.find((city) => city.name === name || city.number === number);
			if (known) throw refuse(`There is a city "${known.name}" with the number ${known.number}.`);
			if (!Number.isSafeInteger(number) || number < 1 || number > MAX_NUMBER) {
				throw refuse(`The number of a city is from 1 to ${MAX_NUMBER}.`);
			}
			await sql`create schema ${sql.id(name)}`.execute(trx);
			await sql`select set_config('search_path', ${name}, true)`.execute(trx);
			await applyMissing(trx);
			await startIds(trx, number);
			return { name, number };
		});
	} finally {
		await database.close();
	}
}

/** Lists the cities, also an installation from before them, which is number 0. */
export async function listCities(url: string): Promise<City[]> {
	if (url.startsWith('file:')) throw refuse('DATABASE_URL names no PostgreSQL database with cities.');
	const database = openPostgres(url, { poolSize: 1 });
	try {
		return await readCities(database.db);
	} finally {
		await database.close();
	}
}

async function readCities(queries: Queries): Promise<City[]> {
	const { rows } = await sql<City>`select schemaname as name, ${CITY_NUMBER} as number from pg_sequences
		where sequencename = 'accounts_id_seq' and not starts_with(schemaname, ${KEPT_PREFIX})
		order by number, name`.execute(queries);
	return rows;
}

/** Returns the address of the database that serves a city. */
export function urlOfCity(url: string, { name }: City): string {
	const address = new URL(url);
	address.searchParams.set('options', `-csearch_path=${name}`);
	return address.href;
}
