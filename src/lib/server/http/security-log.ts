import { isIP } from 'node:net';
import { networkOf } from '#lib/server/http/network.ts';
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
	locals: { app: Pick<Base, 'log'>; requestId: string };
	getClientAddress(): string;
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
	const { app, requestId } = source.locals;
	const network = networkOf(source);
	// A header that a proxy did not set can contain anything.
	const isAddress = isIP(network.replace('/64', '')) !== 0;
	app.log.info(
		{ part: 'security', request: requestId, network: isAddress ? network : 'unknown', ...details },
		event
	);
}
