import { apart } from '#lib/language/intl.ts';
import * as m from '#lib/language/messages.js';
import type { PhoneHint } from '#lib/phone-hint.ts';
import type { ApiProblem } from '#lib/server/api-client.ts';

export type RefusedFields = Partial<Record<'time' | 'network' | 'phone' | 'form', string>>;

const FIELD_OF_POINTER: Readonly<Record<string, keyof RefusedFields>> = {
	'/phone': 'phone',
	'/duration': 'time',
	'/payment_method': 'network'
};

/** Why the service started no payment, beside the field that can change it. In all of these nothing was taken. */
export function paymentRefusal(
	problem: ApiProblem,
	words: { region: PhoneHint; bounds: string }
): RefusedFields {
	const { country, example } = words.region;
	const phone = m.router_number_wrong({ country, example: apart(example) });
	const time = m.router_choose_from({ bounds: words.bounds });
	const network = m.router_network_refused();
	switch (problem.code) {
		case 'invalid_phone':
			return { phone };
		case 'duration_not_allowed':
			return { time };
		case 'payment_method_not_supported':
			return { network };
		case 'payer_prompt_limit':
			return { phone: m.router_number_tired() };
		case 'router_unavailable':
			return { form: m.router_gone_offline() };
		case 'validation_failed': {
			const texts = { phone, time, network };
			const fields = problem.errors.map(({ pointer }) => FIELD_OF_POINTER[pointer]);
			const known = fields.filter((field) => field !== undefined && field !== 'form');
			if (known.length > 0) return Object.fromEntries(known.map((field) => [field, texts[field]]));
			break;
		}
		default:
	}
	return { form: m.router_not_started() };
}
