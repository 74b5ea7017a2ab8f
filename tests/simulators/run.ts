/**
 * `npm run simulator -- mtn|mpesa|airtel|pawapay [--port 4001]`: a simulated operator or SMS provider
 * (`africastalking`, `sms`), by hand. Prints one line of JSON with its address, the credentials that it takes and the
 * settings that point Airtill at it; ends with Ctrl-C.
 * `--portal name=value` is what a merchant sets in the operator's portal, e.g. `callback_url=http://…`; other
 * `--name value` go to the operator's protocol, e.g. `mtn --market mtnuganda`.
 */
import process from 'node:process';
import { type Protocol, startSimulator } from './simulator.ts';
import { PROTOCOLS } from './protocols.ts';

const [name = '', ...rest] = process.argv.slice(2);
/** Settings of the portal, in their order. */
const portal: Record<string, string>[] = [];
const { port = '0', ...options } = readOptions(rest);
const protocol = makeProtocol();
if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) usage('A port is a number from 0 to 65535.');

const simulator = await startSimulator(protocol, { port: Number(port) }).catch((error: unknown) =>
	usage(error instanceof Error ? `${error.message}.` : String(error))
);
for (const setting of portal) simulator.portal(setting);
const { url, credentials, environment } = simulator;
console.log(JSON.stringify({ operator: name, base_url: url, credentials, environment }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => void simulator.stop().then(() => process.exit(0)));
}

function makeProtocol(): Protocol {
	const make = Object.hasOwn(PROTOCOLS, name) ? PROTOCOLS[name] : undefined;
	if (!make) usage('Which operator or SMS provider?');
	try {
		return make(options);
	} catch (error) {
		usage(error instanceof Error ? error.message : String(error));
	}
}

/** `--name value` and `--name=value`. */
function readOptions(args: string[]): Record<string, string> {
	const read: Record<string, string> = {};
	for (let index = 0; index < args.length; index += 1) {
		const [, option, attached] = /^--([a-z-]+)(?:=(.*))?$/.exec(args[index] ?? '') ?? [];
		const value = attached ?? args[(index += 1)];
		if (option === undefined || value === undefined) usage('Options are written as --name value.');
		if (option === 'portal') {
			const [setting = '', ...words] = value.split('=');
			portal.push({ [setting]: words.join('=') });
		} else read[option] = value;
	}
	return read;
}

function usage(problem: string): never {
	console.error(`${problem}\nusage: npm run simulator -- ${Object.keys(PROTOCOLS).join('|')} [--port 4001]`);
	process.exit(2);
}
