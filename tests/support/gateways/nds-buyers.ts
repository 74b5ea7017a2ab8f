/** Buyers behind an openNDS: what they open, and what is recorded of their sessions. */
import { browse } from '../pages/browsing.ts';
import { buyHourOn } from '../pages/splash.ts';
import { admissionsOf } from './admissions.ts';
import { eventually, type Fixture } from '../server/fixture.ts';
import type { Registered } from './gateways.ts';
import { ndsEntry, type NdsDevice } from './opennds.ts';

/** @param host of the gateway */
export function ndsBuyers(fixture: () => Fixture, host: string) {
	/** Opens the page that the gateway sends a device to. */
	async function enter(gateway: Registered, device: NdsDevice) {
		const person = browse(fixture().server.url);
		return { person, page: await person.get(ndsEntry(gateway, device, host)) };
	}
	/** Opens a purchase on another device, by its address. */
	const open = (
		gateway: Registered,
		device: NdsDevice,
		path: string,
		person = browse(fixture().server.url)
	) => person.get(ndsEntry(gateway, device, host, fixture().server.url + path));
	/** Buys an hour there. @returns its path */
	async function buy(gateway: Registered, device: NdsDevice): Promise<string> {
		const { person, page } = await enter(gateway, device);
		return buyHourOn(person, page);
	}

	const newest = async () => {
		const [row] = await fixture().sql.all('select * from sessions order by id desc limit 1');
		return row ?? {};
	};
	const admissionOf = async (pass: unknown) => (await admissionsOf(fixture().sql, pass))[0] ?? {};
	const inState = (status: string) =>
		eventually(`a session is ${status}`, async () => {
			const row = await newest();
			return row['status'] === status ? row : null;
		});

	return { enter, open, buy, newest, admissionOf, inState };
}
