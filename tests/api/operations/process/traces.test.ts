/** Traces: one for a purchase, from its page to the operator and the gateway, without a secret or a number in it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../../simulators/frame/simulator.ts';
import { httpSmsProtocol } from '../../../simulators/sms.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { buyAt, numberEnding, untilTitled } from '../../../support/pages/purchase.ts';
import { eventually, SECRET, startFixture, type Fixture } from '../../../support/server/fixture.ts';

interface Span {
	traceId: string;
	spanId: string;
	parentSpanId?: string;
	name: string;
	kind: number;
	attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
}

interface Export {
	resourceSpans: { resource: object; scopeSpans: { spans: Span[] }[] }[];
}

const received: { path: string; key: string; body: string }[] = [];
const spans = (): Span[] =>
	received.flatMap(({ body }) =>
		(JSON.parse(body) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
			scopeSpans.flatMap((scope) => scope.spans)
		)
	);
const valueOf = (span: Span | undefined, key: string) =>
	Object.values(span?.attributes.find((one) => one.key === key)?.value ?? {})[0];

const collector: Server = createServer((request, response) => {
	const chunks: Buffer[] = [];
	request.on('data', (chunk: Buffer) => chunks.push(chunk));
	request.on('end', () => {
		const { url: path = '', headers } = request;
		received.push({ path, key: String(headers['x-key']), body: Buffer.concat(chunks).toString() });
		response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
	});
});
const protocol = httpSmsProtocol();
let provider: Simulator;
let fixture: Fixture;

beforeAll(async () => {
	provider = await startSimulator(protocol);
	collector.listen(0, '127.0.0.1');
	await once(collector, 'listening');
	const { port } = collector.address() as AddressInfo;
	fixture = await startFixture({
		env: {
			...provider.environment,
			SMS_BUYER_CODES: '1',
			OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
			OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key'
		}
	});
});
afterAll(async () => {
	await fixture?.stop();
	await provider?.stop();
	collector.close();
});

const spanNamed = (name: string | RegExp, traceId?: string) =>
	eventually(`a span ${name}`, async () =>
		spans().find(
			(span) =>
				(typeof name === 'string' ? span.name === name : name.test(span.name)) &&
				(traceId === undefined || span.traceId === traceId)
		)
	);

it('a purchase has one trace, from the page to the operator, with no secret in it', async () => {
	const { url } = fixture.server;
	const phone = numberEnding('008');
	const path = await buyAt(url, '/r/3', phone);
	await untilTitled(url, path, /is paid until/);
	const { traceId } = await spanNamed('POST /v1/payments/mobile-money');
	const operator = await spanNamed('sandbox submit', traceId);
	await spanNamed('POST /v1/sessions', traceId);
	const up = (span: Span): string[] => {
		const parent = spans().find(({ spanId }) => spanId === span.parentSpanId);
		return [span.name, ...(parent ? up(parent) : [])];
	};
	// A parent ends after its child, so it may come with a later export.
	await expect
		.poll(() => up(operator))
		.toEqual([
			'sandbox submit',
			expect.stringMatching(/^job payment/),
			'POST /v1/payments/mobile-money',
			expect.stringMatching(/^POST \/\(portal\)\/r\//)
		]);
	expect(valueOf(operator, 'airtill.outcome')).toBe('accepted');

	const code = /class="code"[^>]*>([0-9A-Z]{4}-[0-9A-Z]{4})</.exec((await browse(url).get(path)).html)?.[1];
	await browse(url).post(`${path}?/sms`);
	const sms = await eventually('the call to the provider', async () =>
		spans().find((span) => valueOf(span, 'server.port') === new URL(provider.url).port)
	);
	expect([sms.name, sms.kind, valueOf(sms, 'http.response.status_code')]).toEqual(['POST', 3, '202']);
	await expect.poll(() => up(sms)).toContain('job notifications.send');
	expect(provider.requests.map(({ headers }) => headers['traceparent'])).toEqual([undefined]);

	const all = JSON.stringify(received);
	const token = path.slice('/s/'.length);
	for (const secret of [token, code ?? 'no code', phone.slice(1), SECRET, '?/sms']) {
		expect(all).not.toContain(secret);
	}
	expect(new Set(received.map((one) => `${one.path} ${one.key}`))).toEqual(new Set(['/v1/traces a key']));
});

it('a request continues the trace of its traceparent, or none that the caller does not keep', async () => {
	const get = async (traceparent: string) => {
		const headers = { traceparent };
		const response = await fetch(`${fixture.server.url}/v1/routers`, { headers });
		return response.headers.get('x-request-id') ?? '';
	};
	const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
	const unsampled = await get(`00-${trace}-${parent}-00`);
	const invalid = await get(`00-${'0'.repeat(32)}-${parent}-01`);
	const continued = await get(`00-${trace}-${parent}-01`);
	const ofRequest = (id: string) => spans().find((span) => valueOf(span, 'airtill.request') === id);
	await eventually('the last request', async () => ofRequest(continued));
	expect(ofRequest(continued)).toMatchObject({ traceId: trace, parentSpanId: parent, kind: 2 });
	expect(valueOf(ofRequest(continued), 'http.response.status_code')).toBe('401');
	expect(ofRequest(unsampled)).toBeUndefined();
	expect(ofRequest(invalid)?.traceId).not.toBe('0'.repeat(32));
	expect(ofRequest(invalid)).not.toHaveProperty('parentSpanId');
});

it('a stop sends the last spans, and a collector that is away stops nothing', async () => {
	const id = (await fetch(`${fixture.server.url}/v1/routers`)).headers.get('x-request-id');
	await fixture.server.restart();
	expect(JSON.stringify(received)).toContain(id);
	collector.closeAllConnections();
	collector.close();
	await fixture.buy();
	await eventually('a line of the log', async () => fixture.server.stderr().includes('traces are lost'));
});

it('a collector that never answers does not hold up a stop', async () => {
	const hanging = createServer(() => {}).listen(0, '127.0.0.1');
	await once(hanging, 'listening');
	const { port } = hanging.address() as AddressInfo;
	const other = await startFixture({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } });
	const asked = once(hanging, 'request');
	await other.nobody.send('GET', '/v1/routers');
	await asked;
	await expect(other.server.kill('SIGTERM')).resolves.toBeUndefined();
	await other.stop();
	hanging.closeAllConnections();
	hanging.close();
});
