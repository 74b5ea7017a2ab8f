import type { ProxySettings } from './client-address.ts';
import type { Base } from '../base.ts';

const FORWARDED = ['x-forwarded-for', 'forwarded'];

/**
 * Warns once if a proxy hides the addresses of buyers: at the start, because only a proxy serves https, or at the first
 * forwarded request.
 */
export function createProxyWarning(
	{ config, log }: Pick<Base, 'config' | 'log'>,
	{ addressHeader }: ProxySettings
): (request: Request) => void {
	let isDone = addressHeader !== '';
	function warn(sign: string): void {
		isDone = true;
		log.warn(`${sign}, but ADDRESS_HEADER is not set: all buyers behind a proxy count as one network`);
	}
	if (!isDone && config.origin?.startsWith('https:')) warn('ORIGIN is https');
	return ({ headers }) => {
		if (isDone) return;
		const header = FORWARDED.find((name) => headers.has(name));
		if (header !== undefined) warn(`a request has the header ${header}`);
	};
}
