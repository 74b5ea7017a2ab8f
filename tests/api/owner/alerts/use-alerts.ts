/** A server with a simulated SMS provider, and owners whose addresses get alerts. */
import { afterAll, beforeAll } from 'vitest';
import { type Simulator, startSimulator } from '../../../simulators/simulator.ts';
import { africasTalkingProtocol } from '../../../simulators/sms.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { later, minute, minutes, recordResponse } from '../../../support/gateways/watch.ts';
import { addRouter, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { eventually, startFixture, type Fixture } from '../../../support/server/fixture.ts';

export const PAGE = '/owner/alerts';

let numbers = 0;
/** [as typed, as sent] @param end of the number */
export function newNumber(end = '000'): [string, string] {
	const digits = `77${String(1000 + (numbers += 1))}${end}`;
	return [`0${digits}`, `+256${digits}`];
}

/** For the tests of one `describe`, or of a file. */
export function useAlerts(database: string) {
	const protocol = africasTalkingProtocol();
	let started: Fixture;
	const fixture = () => started;
	let provider: Simulator;
	const startProvider = async (port?: number) => {
		provider = await startSimulator(protocol, port === undefined ? {} : { port });
	};

	beforeAll(async () => {
		await startProvider();
		started = await startFixture({
			database,
			env: { ...provider.environment, SMS_PRICE: '35' }
		});
	});
	afterAll(async () => {
		await started?.stop();
		await provider?.stop();
	});

	const textsTo = (to: string) => protocol.sent.filter((sms) => sms.to === to).map(({ text }) => text);
	/** Bodies of the mails to an address, as a sandbox without a mail server prints them. */
	const mailsTo = (to: string) =>
		fixture()
			.server.stdout()
			.split(`\nTo: ${to}\n`)
			.slice(1)
			.map((mail) => mail.split('\n---')[0] ?? '')
			.filter((mail) => /Airtill/.test(mail) && !mail.includes('/password?'));

	/** Waits until every queued message was tried. */
	const untilSent = () =>
		eventually('no message waits', async () => {
			const waiting = "select count(*) from notifications where status in ('queued', 'sending')";
			return (await fixture().sql.count(waiting)) === 0;
		});

	const newestCode = async (channel: string, to: string): Promise<string> => {
		await untilSent();
		const all = channel === 'sms' ? textsTo(to) : mailsTo(to);
		return /\b\d{6}\b/.exec(all.at(-1) ?? '')?.[0] ?? 'none';
	};

	/** Enters an address and its code, and chooses the events. */
	async function switchOn(
		owner: Owner,
		channel: 'email' | 'sms',
		typed: string,
		to: string,
		event: string[]
	) {
		await owner.post(PAGE, { do: 'address', channel, address: typed });
		await owner.post(PAGE, { do: 'confirm', channel, code: await newestCode(channel, to) });
		await owner.post(PAGE, { do: 'events', channel, event });
	}

	/** An owner with a router and a gateway that has responded. */
	async function newHotspot(): Promise<{ owner: Owner; router: number; gateway: string }> {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId, { name: 'Blue Cafe' });
		const more = ['--level', '4'];
		const { name } = await registerGateway(fixture().server, 'opennds', {
			...{ loginHost: '10.0.0.1', router, more }
		});
		await recordResponse(fixture(), [name]);
		return { owner, router, gateway: name };
	}

	/** Three minutes without a response, then the time until an outage causes an alert. */
	async function fallSilent(): Promise<void> {
		await minutes(fixture(), 4);
		await later(fixture(), 10 * minute);
		await untilSent();
	}

	return {
		...{ fixture, provider: () => provider, startProvider },
		...{ textsTo, mailsTo, untilSent, newestCode, switchOn, newHotspot, fallSilent }
	};
}
