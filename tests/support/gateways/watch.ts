/** Moves a server's clock minute by minute while some gateways respond and others do not. */
import type { Clock } from '#lib/server/platform/clock.ts';
import { openDatabase } from '#lib/server/db/database.ts';
import { type StatusUpdate, findGatewayByName, recordStatus } from '#lib/server/gateways/gateways.ts';
import { createSecrets } from '#lib/server/platform/secrets.ts';
import { eventually, SECRET, type Fixture } from '../server/fixture.ts';

export const minute = 60_000;
const DAY = 24 * 60 * minute;
/** From midnight UTC. */
const NOON_IN_KAMPALA = 9 * 60 * minute;

/** The clock of a server under test. */
export const clockOf = ({ server }: Pick<Fixture, 'server'>): Clock => server;

/** Notes what an endpoint or a job learns of gateways: by their names, in the words of the server. */
export async function recordResponse(
	fixture: Pick<Fixture, 'server'>,
	names: readonly string[],
	news: StatusUpdate = {},
	/** Runs between the authentication of a message and its record. */
	meanwhile: () => Promise<void> = () => Promise.resolve()
): Promise<void> {
	const database = await openDatabase(fixture.server.databaseUrl, { poolSize: 1 });
	try {
		const gateways = { database, clock: clockOf(fixture), secrets: createSecrets(SECRET) };
		for (const name of names) {
			const gateway = await findGatewayByName(gateways, name);
			if (!gateway) throw new Error(`There is no gateway ${name}`);
			await meanwhile();
			await recordStatus(gateways, gateway, { seen: true, ...news });
		}
	} finally {
		await database.close();
	}
}

const lastCheck = ({ sql }: Fixture) => sql.count('select max(checked_at) from gateways');

/** No job is at work or due: the clock may be moved. */
export const isQuiet = (fixture: Fixture) =>
	eventually('no job is due', async () => {
		const soon = clockOf(fixture).now() + 400;
		const busy = 'select count(*) from jobs where run_at <= ? or lease_until > 0';
		return (await fixture.sql.count(busy, soon)) === 0;
	});

/** Moves the clock on, and waits until gateways were checked after that. */
export async function later(fixture: Fixture, ms: number): Promise<void> {
	await isQuiet(fixture);
	const before = await lastCheck(fixture);
	await fixture.server.advance(ms);
	await eventually('gateways are checked', async () => (await lastCheck(fixture)) !== before);
	await isQuiet(fixture);
}

/** Moves on to the next noon in Kampala: what follows within hours is of one day and one month. */
export const advanceToNoon = ({ server }: Fixture): Promise<void> =>
	server.advance(DAY - ((server.now() - NOON_IN_KAMPALA) % DAY));

/** Advances minute by minute; the given gateways respond in each. */
export async function minutes(
	fixture: Fixture,
	count: number,
	responding: readonly string[] = []
): Promise<void> {
	for (let index = 0; index < count; index += 1) {
		// A check that still runs, such as the one of the start, would take the response for its own.
		await isQuiet(fixture);
		if (responding.length > 0) await recordResponse(fixture, responding);
		await later(fixture, minute);
	}
}

interface Connection {
	gateway: string;
	passId?: number;
	mac?: string;
	/** Of the clock of the server, before now. */
	startedAgoMs?: number;
	seenAgoMs?: number;
	/** Milliseconds from now; null without an end. */
	endsInMs?: number | null;
	stoppedAgoMs?: number;
	bytesIn?: number;
	bytesOut?: number;
}

let connections = 0;

/** A connection as a gateway's accounting leaves it. @returns its id */
export async function connect(fixture: Fixture, connection: Connection): Promise<number> {
	const now = clockOf(fixture).now();
	const { startedAgoMs = 10 * minute, seenAgoMs = 0, endsInMs = 60 * minute, stoppedAgoMs } = connection;
	return fixture.sql.count(
		`insert into connections (gateway_id, acct_session_id, pass_id, mac, started_at, seen_at, stopped_at,
				enforced_until, bytes_in, bytes_out)
			values ((select id from gateways where name = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`,
		connection.gateway,
		`connection-${(connections += 1)}`,
		connection.passId ?? null,
		connection.mac ?? `02:00:00:00:00:${String(connections % 90).padStart(2, '0')}`,
		now - startedAgoMs,
		now - seenAgoMs,
		stoppedAgoMs === undefined ? null : now - stoppedAgoMs,
		endsInMs === null ? null : now + endsInMs,
		connection.bytesIn ?? 0,
		connection.bytesOut ?? 0
	);
}
