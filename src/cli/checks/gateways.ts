import type { App } from '#lib/server/app.ts';
import { fail, ok, type Finding } from './finding.ts';
import { storedFindings } from './gateway.ts';

const MAX_NAMED = 5;

/** Reads stored data and calls no gateway. */
export async function* checkGateways(app: App): AsyncGenerator<Finding> {
	const gateways = await app.gateways.list();
	let problems = 0;
	for (const gateway of gateways) {
		for (const { level, name, what, advice } of storedFindings(app, gateway)) {
			if (level === 'ok') continue;
			problems += 1;
			// Only a warning, because the other gateways keep working.
			const ofAll = { name: 'gateways', what: `${gateway.name}, ${name}: ${what}`, advice };
			yield { ...ofAll, level: name === 'secrets' ? level : 'warn' };
		}
	}
	if (gateways.length === 0) yield ok('gateways', 'none is registered');
	else if (problems === 0) yield ok('gateways', `${gateways.length}, without problems`);
	const open = await app.routers.unverified(MAX_NAMED + 1);
	if (open.length === 0) return;
	const names = open.slice(0, MAX_NAMED).map(({ id, name }) => `${id} ${name}`);
	const more = open.length > MAX_NAMED ? ' and more' : '';
	const what = `routers of which no gateway has responded: ${names.join(', ')}${more}`;
	// A sandbox has made-up routers.
	if (app.config.mode === 'sandbox') yield ok('access', `${what}; only a sandbox sells them`);
	else {
		const advice = 'connect a gateway, or confirm that buyers get access with "routers confirm-access"';
		yield fail('access', `${what}; they do not sell`, advice);
	}
}
