import type { ObjectView } from '../../reference.ts';
import { json } from './code.ts';
import { nameOf, resolved, slug, type ApiDocument, type Parameter } from './document.ts';
import { namesBelow, placesOf, WEBHOOKS_PAGE } from './objects.ts';
import { objectView } from './operations.ts';

/** Webhooks as the reference shows them. */

export interface EventView {
	id: string;
	name: string;
	description: string;
	/** The body that is delivered. */
	example: string;
	data: { name: string; href: string } | null;
}

export interface WebhooksView {
	events: EventView[];
	headers: { name: string; description: string; example: string }[];
	/** What the bodies carry in `data`. */
	objects: ObjectView[];
}

export function webhooksView(document: ApiDocument): WebhooksView {
	const places = placesOf(document);
	const deliveries = Object.entries(document.webhooks).map(([name, { post }]) => {
		const media = Object.values(post.requestBody?.content ?? {})[0];
		const [example] = Object.values(media?.examples ?? {});
		return { name, post, schema: media?.schema ?? {}, example };
	});
	const envelopes = new Set(deliveries.map(({ schema }) => nameOf(schema)));
	const names = deliveries
		.flatMap(({ schema }) => namesBelow(document, schema))
		.filter((name) => places.get(name) === WEBHOOKS_PAGE && !envelopes.has(name));
	const first = deliveries[0]?.post.parameters ?? [];
	return {
		events: deliveries.map(({ name, schema, example }) => {
			const data = resolved(document, schema).properties?.['data'];
			const shape = data ? nameOf(data) : null;
			return {
				id: slug(name),
				name,
				description: example?.summary ?? '',
				example: json(example?.value),
				data: shape === null ? null : { name: shape, href: `#object-${slug(shape)}` }
			};
		}),
		headers: first
			.map((parameter) => resolved<Parameter>(document, parameter))
			.map(({ name, description, example }) => ({ name, description, example: String(example) })),
		objects: [...new Set(names)].map((name) => objectView(document, places, name))
	};
}

/** How deliveries are made, in the words of people. tests/unit/docs.test.ts compares them with the service. */
export const DELIVERY = {
	timeoutSeconds: 15,
	/** Time from each failed attempt to the next. */
	retryDelaysSeconds: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
	jitterPercent: 10,
	maxRetryAfterSeconds: 3_600,
	concurrent: 5,
	keptResponseBytes: 1_024,
	keptDays: 30,
	oldSecretHours: 24,
	maxEndpoints: 16,
	maxBodyKilobytes: 20,
	maxUrlLength: 2_048,
	disableAfterDays: 5,
	tellAfterDays: 3,
	leastFailures: 10,
	/** Of the packages that verify. */
	toleranceSeconds: 300
} as const;
