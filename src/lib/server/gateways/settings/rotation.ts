import { checkApiCredentials, checkRadiusSecret } from './connection.ts';
import { checkSecret, generatedCredentials, type CheckedGateway } from './gateway-input.ts';
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
	const given = (text: string) => (text === 'new' ? null : text);
	if (secret !== null) checkSecret(kind, given(secret), report);
	if (radiusSecret !== null) checkRadiusSecret({ kind, settings, report }, given(radiusSecret));
	if (token !== null && !generatedCredentials(kind, settings).token) {
		report('token', `${kind} has no token; leave it out`);
	}
	const isApiChanged = apiKey !== null || apiUser !== null;
	if (isApiChanged && settings.api === undefined)
		report('api-key', 'the gateway was registered without --api');
	else if (isApiChanged) {
		const input = {
			apiKey: apiKey ?? credentials.apiKey ?? null,
			apiUser: apiUser ?? credentials.apiUser ?? null
		};
		checkApiCredentials({ input, kind, credentials: {}, report });
	}
	if (problems.length > 0) throw new InputError(problems);
}
