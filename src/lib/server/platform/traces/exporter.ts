import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpClient } from '../http/http-client.ts';
import type { Log } from '../log.ts';
import type { TraceSettings } from './traces.ts';

const EXPORT_EVERY_MS = 1_000;
const EXPORT_TIMEOUT_MS = 10_000;
/** A stop waits no longer for the last spans: a collector that hangs must not delay it. */
const MAX_STOP_MS = 2_000;
/** Of spans that wait for the next request; further ones are lost. */
const MAX_WAITING = 4_096;

/**
 * Sends spans to a collector, as OTLP over HTTP in JSON (opentelemetry.io/docs/specs/otlp/#otlphttp). Spans of a failed
 * request are lost.
 */
export function createExporter({ url, headers, serviceName }: TraceSettings, log: Log) {
	const http = createHttpClient({ timeoutMs: EXPORT_TIMEOUT_MS });
	const resource = { attributes: inOtlp({ 'service.name': serviceName, 'process.pid': process.pid }) };
	let waiting: object[] = [];
	let sending: Promise<void> | null = null;
	let isFailing = false;

	async function send(): Promise<void> {
		if (waiting.length === 0) return;
		const scopeSpans = [{ scope: { name: 'airtill' }, spans: waiting }];
		waiting = [];
		const outcome = await http.send({
			method: 'POST',
			url,
			headers: { ...headers, 'content-type': 'application/json' },
			body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] })
		});
		const isLost = outcome.kind === 'failure' || outcome.status >= 300;
		const reason = outcome.kind === 'failure' ? outcome.cause : `HTTP ${outcome.status}`;
		if (isLost && !isFailing)
			log.warn(
				{ reason },
				'traces are lost: the collector at OTEL_EXPORTER_OTLP_ENDPOINT does not accept them'
			);
		isFailing = isLost;
	}

	const sendNext = () => (sending ??= send().finally(() => (sending = null)));
	const timer = setInterval(sendNext, EXPORT_EVERY_MS).unref();

	async function sendRest(): Promise<void> {
		await sending;
		await send();
	}

	return {
		/** @param span as in opentelemetry-proto, trace/v1/trace.proto */
		add(span: object): void {
			if (waiting.length < MAX_WAITING) waiting.push(span);
		},
		async stop(): Promise<void> {
			clearInterval(timer);
			await Promise.race([sendRest(), sleep(MAX_STOP_MS, undefined, { ref: false })]);
			await http.stop();
		}
	};
}

/** 64-bit integers are strings in JSON. */
export const inOtlp = (attributes: Readonly<Record<string, string | number>>) =>
	Object.entries(attributes).map(([key, value]) => ({
		key,
		value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value }
	}));
