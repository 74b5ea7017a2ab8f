import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '#lib/domain/time/time.ts';
import type { Log } from '../log.ts';
import { createExporter, inOtlp } from './exporter.ts';
import type { BegunSpan, Span, Traces, TraceSettings } from './traces.ts';

/** https://www.w3.org/TR/trace-context/#traceparent-header; later versions may append fields. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/;
/** The caller keeps the trace. */
const SAMPLED = 1;

/** The jobs of a purchase end before. A job that runs for ever leaves the trace of the request that woke it. */
const LINK_MS = 15 * MINUTE_MS;
const MAX_LINKS = 10_000;

/** `SpanKind` and `StatusCode` of OpenTelemetry. */
const KINDS = { internal: 1, server: 2, client: 3, consumer: 5 };
const STATUS_ERROR = 2;

export function createTraces(config: TraceSettings, log: Log): Traces {
	/** The `traceparent` of the current span. */
	const current = new AsyncLocalStorage<string>();
	const links = new Map<string, { traceparent: string; until: number }>();
	const { add, stop } = createExporter(config, log);

	function linked({ kind, subjectId }: NonNullable<BegunSpan['job']>): string | null {
		const link = links.get(`${kind} ${subjectId}`);
		return link && performance.now() < link.until ? link.traceparent : null;
	}

	return {
		isOn: true,
		async span<T>({ name, kind, traceparent, job }: BegunSpan, work: (span: Span) => Promise<T>): Promise<T> {
			const parent = current.getStore() ?? (job && linked(job)) ?? traceparent ?? '';
			const [, traceId = newId(16), parentSpanId, flags = '01'] = TRACEPARENT.exec(parent) ?? [];
			const spanId = newId(8);
			const span: Span = { name, attributes: job ? { 'airtill.job.subject': job.subjectId } : {} };
			const startTimeUnixNano = nanoseconds();
			try {
				return await current.run(`00-${traceId}-${spanId}-${flags}`, () => work(span));
			} catch (error) {
				span.attributes['error.type'] = error instanceof Error ? error.name : 'error';
				throw error;
			} finally {
				const ids = { traceId, spanId, parentSpanId };
				const times = { startTimeUnixNano, endTimeUnixNano: nanoseconds() };
				const status = 'error.type' in span.attributes ? { code: STATUS_ERROR } : {};
				const about = { name: span.name, kind: KINDS[kind], attributes: inOtlp(span.attributes), status };
				if (Number.parseInt(flags, 16) & SAMPLED) add({ ...ids, ...times, ...about });
			}
		},
		link(kind, subjectIds) {
			const traceparent = current.getStore();
			for (const name of subjectIds.map((subjectId) => `${kind} ${subjectId}`)) {
				links.delete(name);
				if (traceparent) links.set(name, { traceparent, until: performance.now() + LINK_MS });
				const [oldest] = links.keys();
				if (links.size > MAX_LINKS && oldest !== undefined) links.delete(oldest);
			}
		},
		stop
	};
}

const newId = (bytes: number) => randomBytes(bytes).toString('hex');

/** The time of day, also if a test moves the clock: spans compare with those of other programs. */
const nanoseconds = () =>
	String(BigInt(Math.round((performance.timeOrigin + performance.now()) * 1_000)) * 1_000n);
