import { describe, expect, it } from 'vitest';
import { shortenPolicy } from '#lib/server/web/policy.ts';

describe('the policy of a page', () => {
	it('names the hash of the script of the template where a page has no nonce for scripts', () => {
		const policy = "default-src 'none'; script-src 'self' 'sha256-x+/='; style-src 'self' 'nonce-a'";
		expect(shortenPolicy(policy)).toBe(policy);
	});

	it('does without it where the nonce allows that script, and keeps all else', () => {
		expect(
			shortenPolicy(
				"default-src 'none'; script-src 'self' 'sha256-x+/=' 'nonce-a'; style-src 'self' 'sha256-y' 'nonce-a'"
			)
		).toBe("default-src 'none'; script-src 'self' 'nonce-a'; style-src 'self' 'sha256-y' 'nonce-a'");
	});

	it('of a picture stays as it is', () => {
		expect(shortenPolicy("default-src 'none'; sandbox")).toBe("default-src 'none'; sandbox");
	});
});
