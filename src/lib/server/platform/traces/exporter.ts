import type { Config } from '../../config/config.ts';
import { createHttpClient } from '../http/http-client.ts';
import type { Log } from '../log.ts';
import type { BegunSpan, Span } from './traces.ts';

interface EndedSpan extends Span {
	traceId: string;
	spanId: string;
	parentSpanId: string | undefined;
	kind: BegunSpan['kind'];
	/** Both in ms since the epoch, with fractions. */
	startedAt: number;
	endedAt: number;
	/** Type of the error that ended it. */
	error: string | null;
}

const EXPORT_EVERY_MS = 1_000;
const EXPORT_TIMEOUT_MS = 10_000;
/** Of spans that wait for the next request; further ones are lost. */
const MAX_WAITING = 4_096;

/** `SpanKind` and `StatusCode` of opentelemetry-proto, trace/v1/trace.proto. */
const KINDS = { internal: 1, server: 2, client: 3, consumer: 5 };
const STATUS_ERROR = 2;

/** Sends spans as OTLP over HTTP in JSON (opentelemetry.io/docs/specs/otlp/#otlphttp). Those of a failed request are lost. */
export function createExporter({ url, headers, serviceName }: NonNullable<Config['traces']>, log: Log) {
	const http = createHttpClient({ timeoutMs: EXPORT_TIMEOUT_MS });
	const resource = { attributes: attributesOf({ 'service.name': serviceName, 'process.pid': process.pid }) };
	let waiting: object[] = [];
	let sending = Promise.resolve();
	let isFailing = false;

	async function send(): Promise<void> {
		if (waiting.length === 0) return;
		const spans = waiting;
		waiting = [];
		const outcome = await http.send({
			method: 'POST',
			url,
			headers: { ...headers, 'content-type': 'application/json' },
			body: JSON.stringify({
				resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'airtill' }, spans }] }]
			})
		});
		const isLost = outcome.kind === 'failure' || outcome.status >= 300;
		const reason = outcome.kind === 'failure' ? outcome.cause : `HTTP ${outcome.status}`;
		if (isLost && !isFailing) log.warn({ reason }, 'traces are lost: OTEL_EXPORTER_OTLP_ENDPOINT takes none');
		isFailing = isLost;
	}

	const queueSend = () => (sending = sending.then(send));
	const timer = setInterval(queueSend, EXPORT_EVERY_MS).unref();

	return {
		add(span: EndedSpan): void {
			if (waiting.length < MAX_WAITING) waiting.push(inOtlp(span));
		},
		async stop(): Promise<void> {
			clearInterval(timer);
			await queueSend();
			await http.stop();
		}
	};
}

const inOtlp = ({ kind, startedAt, endedAt, error, attributes, ...span }: EndedSpan) => ({
	...span,
	kind: KINDS[kind],
	startTimeUnixNano: nanoseconds(startedAt),
	endTimeUnixNano: nanoseconds(endedAt),
	attributes: attributesOf(error === null ? attributes : { ...attributes, 'error.type': error }),
	...(error !== null && { status: { code: STATUS_ERROR } })
});

const attributesOf = (attributes: Span['attributes']) =>
	Object.entries(attributes).map(([key, value]) => ({
		key,
		// 64-bit integers are strings in JSON.
		value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value }
	}));

const nanoseconds = (ms: number) => String(BigInt(Math.round(ms * 1_000)) * 1_000n);
