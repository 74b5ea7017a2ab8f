import { DEMO_OWNER_EMAIL } from '#lib/server/demo/accounts.ts';
import { addDemoYear } from '#lib/server/demo/year/year.ts';
import { defineCommand, UsageError } from '../support/command.ts';

const MAX_ROUTERS = 100_000;
const MAX_SESSIONS = 1_000_000;

export const addDemo = defineCommand({
	name: 'demo',
	summary: 'Add a year of synthetic trade to a sandbox. Stop Airtill first.',
	help: `Gives the demo owner, ${DEMO_OWNER_EMAIL}, routers with a year of sessions, payments and refunds, to try pages and reports with. Live mode refuses it, and refuses the database afterwards.`,
	options: {
		year: { help: 'what to add', isNeeded: true },
		routers: { value: 'N', help: '1000 if you leave it out' },
		sessions: { value: 'N', help: '100000 if you leave it out' }
	},
	async run({ values: { routers = '1000', sessions = '100000' }, open }) {
		const size = {
			routers: numberOf(routers, '--routers', MAX_ROUTERS),
			sessions: numberOf(sessions, '--sessions', MAX_SESSIONS)
		};
		const app = await open();
		const started = performance.now();
		await addDemoYear(app, size);
		const seconds = ((performance.now() - started) / 1000).toFixed(1);
		console.error(
			`${size.routers} routers and ${size.sessions} sessions of a year are added (${seconds} s).`
		);
		console.error(`The next start prints the password of ${DEMO_OWNER_EMAIL}.`);
	}
});

function numberOf(text: string, option: string, max: number): number {
	const number = Number(text);
	if (/^\d+$/.test(text) && number >= 1 && number <= max) return number;
	throw new UsageError(`${option} is a number from 1 to ${max}, not "${text}".`);
}
