import { networkOf } from '#lib/server/http/client-address.ts';
import type { Base } from '../base.ts';

type SecurityEvent =
	| 'signed in'
	| 'sign-in refused'
	| 'signed out'
	| 'sign-in sessions ended'
	| 'password changed'
	| 'second factor added'
	| 'second factor removed'
	| 'API key created'
	| 'API key revoked'
	| 'API request refused'
	| 'gateway key refused'
	| 'page refused';

/** A page's event has this form. */
interface Source {
	locals: { app: Pick<Base, 'log'>; requestId: string; clientAddress(): string | null };
}

interface Details {
	account?: number | null;
	/** The method of a sign-in. */
	by?: 'password' | 'link' | 'second factor';
	reason?: string;
	keyId?: number;
	gateway?: string;
}

/** Logs who got access and who was refused. Never what was typed: people type passwords as email addresses. */
export function logSecurity(source: Source, event: SecurityEvent, details: Details): void {
	const { app, requestId, clientAddress } = source.locals;
	const network = networkOf(clientAddress());
	app.log.info({ part: 'security', request: requestId, network, ...details }, event);
}
