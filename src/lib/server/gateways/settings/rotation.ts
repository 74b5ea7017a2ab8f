import { checkApiCredentials, checkRadiusSecret } from './connection.ts';
import { checkSecret, generatedCredentials, hasSharedSecret, type CheckedGateway } from './gateway-input.ts';
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
	if (secret === 'new') {
		if (!hasSharedSecret(kind)) report('secret', `${kind} has no shared secret; leave it out`);
	} else if (secret !== null) checkSecret(kind, secret, report);

	const generated = generatedCredentials(kind, settings);
	if (radiusSecret !== null && !generated.radiusSecret) {
		report('radius-secret', 'the gateway uses no RADIUS server; leave it out');
	} else if (radiusSecret !== null && radiusSecret !== 'new') {
		checkRadiusSecret(radiusSecret, report);
	}
	if (token !== null && !generated.token) report('token', `${kind} has no token; leave it out`);

	if (apiKey !== null || apiUser !== null) {
		if (settings.api === undefined) report('api-key', 'the gateway was registered without --api');
		else {
			const input = {
				apiKey: apiKey ?? credentials.apiKey ?? null,
				apiUser: apiUser ?? credentials.apiUser ?? null
			};
			checkApiCredentials({ input, kind, credentials: {}, report });
		}
	}
	if (problems.length > 0) throw new InputError(problems);
}
