/** The mails about webhooks that do not work. */
import { expect, it } from 'vitest';
import { formatNotice } from '../../../src/lib/server/developer/webhook-upkeep.ts';

const endpoint = {
	id: 7,
	url: 'https://app.example.com/hooks/a-secret-of-the-receiver',
	failing_since: Date.parse('2026-11-21T09:00:00.000Z')
};
const to = { email: 'dev@shop.invalid', origin: 'https://airtill.example' };

it('on the third day the account learns what fails, since when, and where to look', () => {
	const mail = formatNotice({ ...endpoint, notice: 'failing', disabled_reason: null }, to);
	expect(mail).toMatchObject({
		to: 'dev@shop.invalid',
		subject: 'Webhook to app.example.com has failed for three days'
	});
	expect(mail.text).toContain('No attempt has succeeded since 2026-11-21T09:00:00.000Z.');
	expect(mail.text).toContain('https://airtill.example/developer');
	expect(mail.text).not.toContain('a-secret-of-the-receiver');
});

it('when it is disabled the account learns why, and what becomes of its events', () => {
	const failing = formatNotice({ ...endpoint, notice: 'disabled', disabled_reason: 'failing' }, to);
	expect(failing.subject).toBe('Webhook to app.example.com is disabled');
	expect(failing.text).toContain('kept for 30 days');
	const gone = formatNotice(
		{ ...endpoint, notice: 'disabled', disabled_reason: 'gone' },
		{ ...to, origin: null }
	);
	expect(gone.text).toContain('410 Gone');
	expect(gone.text).toContain('the developer area');
});
