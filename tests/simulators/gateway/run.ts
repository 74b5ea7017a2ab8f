/**
 * `npx node tests/simulators/gateway/run.ts --kind opennds [--port 4100] --portal ADDRESS --secret S --api URL --key KEY`:
 * a gateway by hand, whose one device is the browser that opens its address. First without the rest, to learn the login
 * host for `airtill gateways add`; then, with the same port, with what that printed. It asks the API for passwords, as it
 * would ask RADIUS.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { KINDS, startGateway } from './gateway.ts';
import { passwordsFrom } from './passwords.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({
	options: { kind: text, port: text, portal: text, secret: text, api: text, key: text }
});
const kind = KINDS.find((known) => known === values.kind);
if (!kind) {
	console.error(`--kind is one of ${KINDS.join(', ')}.`);
	process.exit(2);
}
const gateway = await startGateway(kind, { port: Number(values.port ?? 0) });
const { portal, secret = '', api = 'http://localhost:3000/v1', key = '' } = values;
if (portal !== undefined) {
	gateway.connect({ portal, secret, ssid: 'STAND-IN', passwordOf: passwordsFrom(api, key) });
}
console.log(JSON.stringify({ gateway: kind, open: gateway.url, login_host: gateway.host }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => void gateway.stop().then(() => process.exit(0)));
}
