/** MTN's two forms of an error: the wallet platform's own, and that of the gateway in front of it. */
import type { SimulatorAnswer } from '../frame/protocol.ts';

/** HTTP status of the wallet platform's codes where it is not 500 (the operator's page of common errors). */
const STATUS: Readonly<Record<string, number>> = {
	REQUEST_REJECTED: 400,
	FORBIDDEN_IP: 403,
	RESOURCE_NOT_FOUND: 404,
	RESOURCE_ALREADY_EXIST: 409,
	SERVICE_UNAVAILABLE: 503
};

const MESSAGES: Readonly<Record<string, string>> = {
	FORBIDDEN_IP: 'Authorization failed. IP not authorized to use this API.',
	INTERNAL_PROCESSING_ERROR: 'An internal error occurred while processing.',
	INVALID_CALLBACK_URL_HOST: 'Callback URL with different host name then configured for API User.',
	INVALID_CURRENCY: 'Currency not supported.',
	NOT_ALLOWED: 'Authorization failed. User does not have permission.',
	NOT_ALLOWED_TARGET_ENVIRONMENT: 'Access to target environment is forbidden.',
	RESOURCE_ALREADY_EXIST: 'Duplicated reference id. Creation of resource failed.',
	RESOURCE_NOT_FOUND: 'Requested resource was not found.',
	SERVICE_UNAVAILABLE: 'Service temporarily unavailable, try again later.'
};

export const messageOf = (code: string): string => MESSAGES[code] ?? code.toLowerCase().replaceAll('_', ' ');

export const failure = (code: string, message = messageOf(code)): SimulatorAnswer => ({
	status: STATUS[code] ?? 500,
	body: { code, message }
});

/** Bad request: the wallet platform says what is wrong, if anything. */
export const rejected = (message: string): SimulatorAnswer => failure('REQUEST_REJECTED', message);

export const gateway = (
	status: number,
	message: string,
	headers: Record<string, string> = {}
): SimulatorAnswer => ({ status, body: { statusCode: status, message }, headers });

export const ok = (body: unknown, status = 200): SimulatorAnswer => ({ status, body });
