import { cli } from '../server/cli.ts';
import { type TestServer } from '../server/server.ts';

/** The address that doctor says must be entered in the operator's portal. */
export async function portalAddress(server: TestServer, id: string): Promise<string> {
	const { stdout } = await cli(['doctor'], server);
	const address = new RegExp(`${id}: the callback address for its portal is (\\S+)`).exec(stdout)?.[1];
	if (address === undefined) throw new Error(`doctor names no address for ${id}:\n${stdout}`);
	return address;
}
