/**
 * `npm run simulator -- mtn|mpesa|airtel|pawapay [--port 4001] [--portal name=value]`: a simulated operator by hand.
 * Prints one line of JSON with its address, the credentials that it takes and the settings that point Airtill at it;
 * ends with Ctrl-C. `--portal` is what a merchant sets in the operator's portal, e.g. `callback_url=http://…`.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startSimulator } from './frame.ts';
import { PROTOCOLS } from './protocols.ts';

const { values, positionals } = parseArgs({
	args: process.argv.slice(2),
	options: {
		port: { type: 'string', default: '0' },
		portal: { type: 'string', multiple: true, default: [] }
	},
	allowPositionals: true
});
const [name = ''] = positionals;
const makeProtocol = PROTOCOLS[name];
const port = Number(values.port);
if (!makeProtocol || !Number.isInteger(port) || port < 0 || port > 65_535) {
	console.error(`usage: npm run simulator -- ${Object.keys(PROTOCOLS).join('|')} [--port 4001]`);
	process.exit(2);
}
const simulator = await startSimulator(makeProtocol(), { port });
for (const setting of values.portal) {
	const [key = '', ...value] = setting.split('=');
	simulator.portal({ [key]: value.join('=') });
}
const { url, credentials, environment } = simulator;
console.log(JSON.stringify({ operator: name, base_url: url, credentials, environment }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => void simulator.stop().then(() => process.exit(0)));
}
