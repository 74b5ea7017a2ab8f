import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '#lib/format/time.ts';
import type { Config } from '../../config/config.ts';
import type { Log } from '../log.ts';
import { createExporter } from './exporter.ts';
import type { BegunSpan, Span, Traces } from './traces.ts';

/** A place in a trace. Not `isSampled`: the caller has decided that the trace is not kept. */
interface Place {
	traceId: string;
	spanId: string;
	isSampled: boolean;
}

/** https://www.w3.org/TR/trace-context/#traceparent-header; later versions may append fields. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/;
const SAMPLED = 1;

/** The jobs of a purchase end before. A job that runs for ever leaves the trace of the request that woke it. */
const LINK_MS = 15 * MINUTE_MS;
const MAX_LINKS = 10_000;

export function createTraces(config: NonNullable<Config['traces']>, log: Log): Traces {
	const current = new AsyncLocalStorage<Place>();
	const links = new Map<string, Place & { until: number }>();
	const exporter = createExporter(config, log);

	function linked({ kind, subjectId }: NonNullable<BegunSpan['job']>): Place | null {
		const link = links.get(jobName(kind, subjectId));
		return link && performance.now() < link.until ? link : null;
	}

	return {
		isOn: true,
		async span<T>({ name, kind, traceparent, job }: BegunSpan, work: (span: Span) => Promise<T>): Promise<T> {
			const parent = current.getStore() ?? (job && linked(job)) ?? placeIn(traceparent);
			const { traceId = newId(16), isSampled = true } = parent ?? {};
			const spanId = newId(8);
			const span: Span = { name, attributes: {} };
			const startedAt = now();
			let error: string | null = null;
			try {
				return await current.run({ traceId, spanId, isSampled }, () => work(span));
			} catch (thrown) {
				error = thrown instanceof Error ? thrown.name : 'error';
				throw thrown;
			} finally {
				const place = { traceId, spanId, parentSpanId: parent?.spanId };
				if (isSampled) exporter.add({ ...place, ...span, kind, startedAt, endedAt: now(), error });
			}
		},
		link(kind, subjectIds) {
			const place = current.getStore();
			for (const subjectId of subjectIds) {
				const name = jobName(kind, subjectId);
				links.delete(name);
				if (!place) continue;
				links.set(name, { ...place, until: performance.now() + LINK_MS });
				const [oldest] = links.keys();
				if (links.size > MAX_LINKS && oldest !== undefined) links.delete(oldest);
			}
		},
		stop: exporter.stop
	};
}

const jobName = (kind: string, subjectId: number) => `${kind} ${subjectId}`;

const newId = (bytes: number) => randomBytes(bytes).toString('hex');

/** Spans compare with those of other machines, so they have the time of day, also if a test moves the clock. */
const now = () => performance.timeOrigin + performance.now();

function placeIn(traceparent: string | null | undefined): Place | null {
	const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
	if (traceId === undefined || spanId === undefined || flags === undefined) return null;
	return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}
