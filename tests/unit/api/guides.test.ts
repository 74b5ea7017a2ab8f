/** Numbers in the guides are those of the code. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EARNINGS_HOUR, MAX_PER_DAY, OUTAGE_MINUTES, REVIEW_HOURS } from '#lib/server/alerts.ts';
import { MAX_BODY_BYTES } from '#lib/server/http/requests.ts';
import { MAX_RETRY_AFTER_MS, RETRY_DELAYS_MS } from '#lib/server/developer/webhook-delivery.ts';
import { TOTAL_TIMEOUT_MS } from '#lib/server/developer/webhook-transport.ts';
import {
	DISABLE_AFTER_MS,
	KEEP_MS,
	MIN_FAILURES,
	NOTIFY_AFTER_MS
} from '#lib/server/developer/webhook-upkeep.ts';
import { MAX_ENDPOINTS, MAX_URL_LENGTH } from '#lib/server/contract/webhooks.ts';
import { OLD_SECRET_MS } from '#lib/server/developer/webhooks.ts';

const textOf = (name: string) =>
	readFileSync(fileURLToPath(new URL(`../../../src/docs/${name}.md`, import.meta.url)), 'utf8').replace(
		/\s+/g,
		' '
	);

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

it('the webhooks guide has the numbers of the code', () => {
	const hours = RETRY_DELAYS_MS.slice(3).map((delay) => delay / HOUR);
	expect(RETRY_DELAYS_MS.slice(0, 3)).toEqual([5_000, 5 * 60_000, 30 * 60_000]);
	expect(MAX_RETRY_AFTER_MS).toBe(HOUR);
	for (const sentence of [
		`at most ${MAX_URL_LENGTH.toLocaleString('en')} characters`,
		`register ${MAX_ENDPOINTS} endpoints`,
		`within ${TOTAL_TIMEOUT_MS / 1000} seconds`,
		`up to ${RETRY_DELAYS_MS.length + 1} times`,
		`5 seconds, 5 minutes, 30 minutes, ${hours.slice(0, -1).join(', ')} and ${hours.at(-1)} hours`,
		`after ${DISABLE_AFTER_MS / DAY} days without success and at least ${MIN_FAILURES} failures`,
		`email after ${NOTIFY_AFTER_MS / DAY} days`,
		`last ${KEEP_MS / DAY} days`,
		`work for ${OLD_SECRET_MS / HOUR} hours`
	]) {
		expect(textOf('api/webhooks')).toContain(sentence);
	}
});

it('the limits guide has the numbers of the code', () => {
	expect(textOf('api/limits')).toContain(`at most ${MAX_BODY_BYTES / 1024} KiB`);
});

it('the guide for owners has the numbers of the code', () => {
	for (const sentence of [
		`after ${OUTAGE_MINUTES} minutes without a response`,
		`every morning at ${EARNINGS_HOUR} o'clock`,
		`once one has waited ${REVIEW_HOURS} hours`,
		`at most ${MAX_PER_DAY} messages in 24 hours`
	]) {
		expect(textOf('owners')).toContain(sentence);
	}
});
