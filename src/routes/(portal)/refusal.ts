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
	const phone = `This is not a mobile number. In ${country} it looks like ${example}.`;
	const time = `Choose from ${words.bounds}.`;
	const network = 'This place does not take that network. Choose another one.';
	switch (problem.code) {
		case 'invalid_phone':
			return { phone };
		case 'duration_not_allowed':
			return { time };
		case 'payment_method_not_supported':
			return { network };
		case 'payer_prompt_limit':
			return { phone: 'This number was asked to pay too often. Wait 15 minutes, or use another number.' };
		case 'router_unavailable':
			return {
				form: 'This Wi-Fi has just gone offline. Try again when it is back, or choose another place.'
			};
		case 'validation_failed': {
			const texts = { phone, time, network };
			const fields = problem.errors.map(({ pointer }) => FIELD_OF_POINTER[pointer]);
			const known = fields.filter((field) => field !== undefined && field !== 'form');
			if (known.length > 0) return Object.fromEntries(known.map((field) => [field, texts[field]]));
			break;
		}
		default:
	}
	return { form: 'The payment could not be started. Try again in a minute.' };
}
