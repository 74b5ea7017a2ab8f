/**
 * Names all metrics for Prometheus and counts what happens in this process; `monitoring/` reads the gauges of the
 * database. Labels are names from our code (routes, kinds, states): few values each, and never a buyer's data.
 */

interface Definition {
	type: 'counter' | 'histogram' | 'gauge';
	/** The guide shows it too. */
	help: string;
	labels?: readonly string[];
	/** Upper bounds in seconds. */
	buckets?: number[];
}

export const METRICS = {
	airtill_http_requests_total: {
		type: 'counter',
		help: 'Requests by route, including those of pages to the API.',
		labels: ['method', 'route', 'status']
	},
	airtill_http_request_duration_seconds: {
		type: 'histogram',
		help: 'Time until the response begins.',
		labels: ['method', 'route'],
		buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10]
	},
	airtill_purchases_total: {
		type: 'counter',
		help: 'Purchases by stage (`session`, `payment`) and outcome, as in the names of webhook events.',
		labels: ['stage', 'outcome']
	},
	airtill_operator_call_duration_seconds: {
		type: 'histogram',
		help: 'Calls to operators; `uncertain`, `unavailable` and `error` mean that no usable answer came.',
		labels: ['operator', 'call', 'outcome'],
		buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
	},
	airtill_money_waiting: {
		type: 'gauge',
		help: 'Reviews that a person must decide, refunds under way, and paid passes that wait for a gateway.',
		labels: ['for']
	},
	airtill_money_waiting_oldest_seconds: {
		type: 'gauge',
		help: 'Age of the oldest of them.',
		labels: ['for']
	},
	airtill_jobs_due: {
		type: 'gauge',
		help: 'Jobs that should run now, at most 1,000; webhook deliveries count once per endpoint.',
		labels: ['kind']
	},
	airtill_jobs_due_oldest_seconds: {
		type: 'gauge',
		help: 'How late the oldest of them is.',
		labels: ['kind']
	},
	airtill_job_failures_total: {
		type: 'counter',
		help: 'Runs of jobs that threw an error; each runs again.',
		labels: ['kind']
	},
	airtill_gateways: {
		type: 'gauge',
		help: 'Gateways that are `responding`, `silent`, or `unknown` because they have never responded.',
		labels: ['state']
	},
	airtill_webhooks_failing: { type: 'gauge', help: 'Webhook endpoints without a success since a failure.' },
	airtill_webhooks_failing_oldest_seconds: { type: 'gauge', help: 'How long the first of them has failed.' },
	airtill_database_up: { type: 'gauge', help: '1 if the database answered this reading, else 0.' },
	airtill_database_errors_total: {
		type: 'counter',
		help: 'Queries that failed, by the code of the database; conflicts that are tried again count too.',
		labels: ['code']
	},
	airtill_database_connections: {
		type: 'gauge',
		help: 'Connections of the PostgreSQL pool (`busy`, `idle`), and queries that wait for one (`waiting`).',
		labels: ['state']
	},
	airtill_database_size_bytes: { type: 'gauge', help: 'Size of the database.' }
} as const satisfies Record<string, Definition>;

type NameOf<Type> = {
	[Name in keyof typeof METRICS]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[keyof typeof METRICS];

type Labels = Readonly<Record<string, string | number>>;

export interface Metrics {
	/** False: callers need not gather anything. */
	readonly isOn: boolean;
	count(name: NameOf<'counter'>, labels: Labels): void;
	/** Observes the time since `startedAt` (performance.now()). */
	observe(name: NameOf<'histogram'>, labels: Labels, startedAt: number): void;
	/** Replaces the values of a gauge. */
	set(name: NameOf<'gauge'>, values: readonly (readonly [Labels, number])[]): void;
	/** Returns all metrics in the text format of Prometheus. */
	text(): Promise<string>;
}

export const NO_METRICS: Metrics = {
	isOn: false,
	count() {},
	observe() {},
	set() {},
	text: async () => ''
};

/** Loads prom-client only here, so that it costs nothing while metrics are off. */
export async function createMetrics(): Promise<Metrics> {
	const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client');
	const registry = new Registry();
	collectDefaultMetrics({ register: registry });
	const create = <T>(type: Definition['type'], Metric: new (options: never) => T): Map<string, T> =>
		new Map(
			Object.entries<Definition>(METRICS)
				.filter(([, definition]) => definition.type === type)
				.map(([name, { help, labels: labelNames = [], buckets }]) => {
					const options = { name, help, labelNames, registers: [registry], ...(buckets && { buckets }) };
					return [name, new Metric(options as never)];
				})
		);
	const counters = create('counter', Counter);
	const histograms = create('histogram', Histogram);
	const gauges = create('gauge', Gauge);
	return {
		isOn: true,
		count: (name, labels) => counters.get(name)?.inc(labels),
		observe: (name, labels, startedAt) =>
			histograms.get(name)?.observe(labels, (performance.now() - startedAt) / 1000),
		set(name, values) {
			const gauge = gauges.get(name);
			gauge?.reset();
			for (const [labels, value] of values) gauge?.set(labels, value);
		},
		text: () => registry.metrics()
	};
}
