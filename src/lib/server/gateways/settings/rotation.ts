import { checkApiCredentials, checkSecret } from './connection.ts';
import { generatedCredentials, hasSharedSecret, type CheckedGateway } from './gateway-input.ts';
import { refuseForeign } from './options.ts';
import { InputError, type FieldProblem, type Report } from '#lib/server/platform/errors.ts';

/** The secrets to replace: a text to use, `new` to generate one, or null to keep the old one. */
export interface Rotation {
	key: boolean;
	secret: string | null;
	radiusSecret: string | null;
	token: string | null;
	/** The gateway creates its `apiKey` and `apiUser`: never `new`. */
	apiKey: string | null;
	apiUser: string | null;
}

type RotatedGateway = Pick<CheckedGateway, 'kind' | 'settings' | 'credentials'>;

/** @throws InputError with every wrong field */
export function checkRotation({ kind, settings, credentials }: RotatedGateway, rotation: Rotation): void {
	const problems: FieldProblem[] = [];
	const report: Report = (field, reason) => problems.push({ field, reason });
	const { secret, radiusSecret, token, apiKey, apiUser } = rotation;
	const { api = null, control = null } = settings;
	const given = (text: string | null) => (text === 'new' ? null : text);
	refuseForeign({ secret, radiusSecret, apiKey, apiUser }, { kind, api, control }, report);
	if (hasSharedSecret(kind)) checkSecret('secret', kind, given(secret), report);
	if (generatedCredentials(kind, settings).radiusSecret)
		checkSecret('radius-secret', kind, given(radiusSecret), report);
	if (token !== null && !generatedCredentials(kind, settings).token) {
		report('token', `${kind} has no token; leave it out`);
	}
	if (api !== null && (apiKey !== null || apiUser !== null)) {
		const input = {
			apiKey: apiKey ?? credentials.apiKey ?? null,
			apiUser: apiUser ?? credentials.apiUser ?? null
		};
		checkApiCredentials({ input, kind, credentials: {}, report });
	}
	if (problems.length > 0) throw new InputError(problems);
}
