/** Whether the server serves a newer portal than this page is of: SvelteKit's `updated.check()` without its router. */
/** Written by every build. */
const VERSION_ADDRESS = '/_app/version.json';

/**
 * @param version of the page (`$app/environment`)
 * @returns false also when it cannot be known
 */
export async function isOutdated(version: string): Promise<boolean> {
	try {
		const response = await fetch(VERSION_ADDRESS, { cache: 'no-store' });
		const served: unknown = response.ok ? await response.json() : null;
		return typeof served === 'object' && served !== null && 'version' in served && served.version !== version;
	} catch {
		return false;
	}
}
