import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../support/database/postgres.ts';
import { cli } from '../../support/server/cli.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

/**
 * Arrangements of portal, API and database. The browser suite passes in all of them:
 * `sqlite` and `postgres` are one process, in `remote` the portal is a second process that buys over HTTP.
 */
export type SetUp = 'sqlite' | 'postgres' | 'remote';

export interface Portal {
	/** The address that browsers open. */
	url: string;
	/** The process that holds sessions and payments. */
	service: TestServer;
	/** The process that serves the pages. */
	pages: TestServer;
	/** Moves the clocks of both. */
	advance(milliseconds: number): Promise<void>;
	/** How far the clocks are ahead of the machine's, in milliseconds. */
	movedBy(): number;
	stop(): Promise<void>;
}

/** A demo router that is online and takes MTN MoMo. */
export const ROUTER = 3;

const HOTSPOTS = fileURLToPath(new URL('../../../../shared/data/nyc-wifi-hotspots.csv', import.meta.url));
const MAPPING = 'id=OBJECTID,name=Name,address=Location,ssid=SSID,lat=Latitude,lon=Longitude';

/** Real hotspots to import; null where this clone has no data folder beside it. */
export const realHotspots = (): string | null => (existsSync(HOTSPOTS) ? HOTSPOTS : null);

export async function startPortal(setUp: SetUp): Promise<Portal> {
	const postgres = setUp === 'postgres' ? await startPostgres() : null;
	const database = postgres ? await postgres.createDatabase() : 'sqlite';
	const service = await startServer({ database });
	const pages = setUp === 'remote' ? await startRemotePages(service) : service;
	let movedBy = 0;
	return {
		url: pages.url,
		service,
		pages,
		async advance(milliseconds) {
			await service.advance(milliseconds);
			movedBy += milliseconds;
			if (pages !== service) await pages.advance(milliseconds);
		},
		movedBy: () => movedBy,
		async stop() {
			if (pages !== service) await pages.stop();
			await service.stop();
			await postgres?.stop();
		}
	};
}

async function startRemotePages(service: TestServer): Promise<TestServer> {
	return startServer({
		env: { AIRTILL_API_URL: `${service.url}/v1`, AIRTILL_API_KEY: demoKey(service, 'app') }
	});
}

/** The API key of a demo sign-in, as the server printed it. */
export function demoKey(server: TestServer, role: 'app' | 'owner' | 'admin'): string {
	const key = new RegExp(`^ +${role}@\\S+ +${role} +(atl_test_\\S+)$`, 'm').exec(server.stdout())?.[1];
	if (!key) throw new Error(`The server printed no key for ${role}`);
	return key;
}

/** Imports the real hotspots and returns the id of one of them. */
export async function importHotspots(portal: Portal, file: string): Promise<number> {
	const result = await cli(
		['routers', 'import', file, '--map', MAPPING, '--price', '500', '--owner', 'owner@airtill.example'],
		portal.service
	);
	if (result.code !== 0) throw new Error(`The import failed: ${result.stderr}`);
	const response = await fetch(`${portal.service.url}/v1/routers?lat=40.7476&lon=-73.8181&radius=500`, {
		headers: { authorization: `Bearer ${demoKey(portal.service, 'app')}` }
	});
	const { data } = (await response.json()) as { data: { id: number }[] };
	const [router] = data;
	if (!router) throw new Error('There is no imported router where one should be');
	return router.id;
}
