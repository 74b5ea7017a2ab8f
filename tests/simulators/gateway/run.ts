/**
 * `npx node tests/simulators/gateway/run.ts --kind opennds [--port 4100] --portal ADDRESS --secret S`: a gateway by hand,
 * whose one device is the browser that opens its address. First without portal and secret, to learn the login host for
 * `airtill gateways add`; then, with the same port, with what that printed. The password that is right is the line that
 * was last typed here.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { KINDS, startGateway } from './gateway.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { kind: text, port: text, portal: text, secret: text } });
const kind = KINDS.find((known) => known === values.kind);
if (!kind) {
	console.error(`--kind is one of ${KINDS.join(', ')}.`);
	process.exit(2);
}
const gateway = await startGateway(kind, { port: Number(values.port ?? 0) });
let password: string | null = null;
createInterface({ input: process.stdin }).on('line', (line) => (password = line.trim()));
const { portal, secret = '' } = values;
if (portal !== undefined) {
	gateway.connect({ portal, secret, ssid: 'STAND-IN', passwordOf: async () => password });
}
console.log(JSON.stringify({ gateway: kind, open: gateway.url, login_host: gateway.host }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => void gateway.stop().then(() => process.exit(0)));
}
