/**
 * A PostgreSQL with a synchronous standby behind one address, as HAProxy and Patroni keep it in production: `kill` takes
 * the primary away, `restart` promotes the standby and makes a new one.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { openSql } from './sql.ts';
import {
	SCHEMA,
	createDatabaseOn,
	fillWith,
	initialise,
	startNode,
	type Node,
	type TestPostgres
} from './postgres.ts';

/** A commit is answered when the standby has stored it too. */
const SYNCHRONOUS = { synchronous_standby_names: '*', synchronous_commit: 'on' };
const COPY_OPTIONS = ['-R', '--checkpoint=fast', '--no-sync', '-h', '127.0.0.1', '-U', 'postgres'];

/** Starts a server that follows the one at `url`. */
export const startStandby = (url: string, more: Readonly<Record<string, string>> = {}): Promise<Node> =>
	startNode((place) => fillWith('pg_basebackup', [...COPY_OPTIONS, '-p', new URL(url).port], place), more);

export async function startReplicated(): Promise<TestPostgres> {
	let primary = await startNode(initialise, SYNCHRONOUS);
	let standby: Node | null = null;
	const address = await startAddress(() => primary.port);
	const follow = async () => {
		standby = await startStandby(primary.url, SYNCHRONOUS);
		await untilFollowed(primary);
	};
	const stop = async () => {
		await address.stop();
		await standby?.remove();
		await primary.remove();
	};
	try {
		await follow();
	} catch (error) {
		await stop();
		throw error;
	}
	return {
		url: address.url,
		createDatabase: () => createDatabaseOn(address.url, { schema: SCHEMA }),
		stop,
		kill: () => primary.end('SIGKILL'),
		async restart() {
			if (!standby) throw new Error('There is no standby');
			const lost = primary;
			const sql = await openSql(standby.url);
			await sql.all('select pg_promote()');
			await sql.close();
			primary = standby;
			// As HAProxy does with "on-marked-down shutdown-sessions".
			address.closeAll();
			await Promise.all([lost.remove(), follow()]);
		}
	};
}

/** Commits wait until then. */
async function untilFollowed(primary: Node): Promise<void> {
	const sql = await openSql(primary.url);
	const synchronous = "select count(*) from pg_stat_replication where sync_state = 'sync'";
	while ((await sql.count(synchronous)) === 0);
	await sql.close();
}

/** One address for whichever server is the primary. */
async function startAddress(portNow: () => number) {
	const open = new Set<Socket>();
	const server = createServer((client) => {
		const inside = connect(portNow(), '127.0.0.1');
		for (const [socket, other] of [
			[client, inside],
			[inside, client]
		] as const) {
			open.add(socket);
			socket.on('error', () => {});
			socket.on('close', () => {
				open.delete(socket);
				other.destroy();
			});
			socket.pipe(other);
		}
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const closeAll = () => open.forEach((socket) => socket.destroy());
	return {
		url: `postgres://postgres@127.0.0.1:${(server.address() as AddressInfo).port}/postgres`,
		closeAll,
		async stop() {
			server.close();
			closeAll();
			await once(server, 'close');
		}
	};
}
