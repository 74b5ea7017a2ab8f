import type { ObjectView } from '#lib/developer/reference.ts';
import { MAX_PER_GROUP } from '#lib/server/jobs/groups.ts';
import { JITTER, MAX_RETRY_AFTER_MS, RETRY_DELAYS_MS } from '#lib/server/developer/webhooks/schedule.ts';
import { KEPT_RESPONSE_BYTES, TOTAL_TIMEOUT_MS } from '#lib/server/developer/webhooks/transport.ts';
import {
	DISABLE_AFTER_MS,
	KEEP_MS,
	LEAST_FAILURES,
	TELL_AFTER_MS
} from '#lib/server/developer/webhooks/upkeep.ts';
import { MAX_URL_LENGTH } from '#lib/server/developer/webhooks/url-rules.ts';
import { MAX_ENDPOINTS, OLD_SECRET_MS } from '#lib/server/developer/webhooks/webhooks.ts';
import { json } from './code.ts';
import { nameOf, resolved, slug, type ApiDocument, type Parameter } from './document.ts';
import { spanText } from './facts.ts';
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
		events: deliveries.map(({ name, post, schema, example }) => {
			const data = resolved(document, schema).properties?.['data'];
			const shape = data ? nameOf(data) : null;
			return {
				id: slug(name),
				name,
				// What follows is said once for all of them.
				description: post.description.split('\n\n')[0] ?? '',
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

const SECOND = 1_000;
const DAY = 24 * 60 * 60 * SECOND;

/** How deliveries are made, as the service has it. */
export const DELIVERY = {
	timeout: spanText(TOTAL_TIMEOUT_MS / SECOND),
	/** From each failed attempt to the next. */
	waits: RETRY_DELAYS_MS.map((delay) => spanText(delay / SECOND)),
	jitterPercent: JITTER * 100,
	maxRetryAfter: spanText(MAX_RETRY_AFTER_MS / SECOND),
	concurrent: MAX_PER_GROUP,
	keptResponseBytes: KEPT_RESPONSE_BYTES,
	keptDays: KEEP_MS / DAY,
	oldSecret: spanText(OLD_SECRET_MS / SECOND),
	maxEndpoints: MAX_ENDPOINTS,
	maxUrlLength: MAX_URL_LENGTH,
	disableAfterDays: DISABLE_AFTER_MS / DAY,
	tellAfterDays: TELL_AFTER_MS / DAY,
	leastFailures: LEAST_FAILURES
} as const;
