import type { Log } from '../log.ts';

/**
 * Traces requests, jobs and calls for OpenTelemetry.
 *
 * Privacy: names and attributes are words of our code, ids of rows, and hosts; never a URL, because a path may have a
 * number or the token of a purchase.
 */
export interface Traces {
	/** False: callers need not gather anything. */
	readonly isOn: boolean;
	/** Runs work in a span below the current one. The span has the type of an error, not its message. */
	span<T>(begun: BegunSpan, work: (span: Span) => Promise<T>): Promise<T>;
	/** Remembers the current span for the runs of jobs. Does nothing outside of one. */
	link(kind: string, subjectIds: readonly number[]): void;
	/** Sends the last spans. */
	stop(): Promise<void>;
}

export interface TraceSettings {
	/** Of a collector's `/v1/traces`. */
	url: string;
	headers: Record<string, string>;
	serviceName: string;
}

/** Work may change it until it ends. With the attribute `error.type` it has failed. */
export interface Span {
	name: string;
	attributes: Record<string, string | number>;
}

export interface BegunSpan {
	name: string;
	kind: 'internal' | 'server' | 'client' | 'consumer';
	/** The caller's span, in W3C Trace Context. */
	traceparent?: string | null;
	/** The job whose `link` the span continues. */
	job?: { kind: string; subjectId: number };
}

export const NO_TRACES: Traces = {
	isOn: false,
	span: ({ name }, work) => work({ name, attributes: {} }),
	link() {},
	stop: async () => {}
};

/** Loads the exporter only here, so that it costs nothing while traces are off. */
export async function openTraces(config: TraceSettings | null, log: Log): Promise<Traces> {
	if (config === null) return NO_TRACES;
	const { createTraces } = await import('./recorder.ts');
	return createTraces(config, log);
}
