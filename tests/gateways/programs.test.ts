/** The programs that these tests work with are the real ones. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('FreeRADIUS is a version 3, with rlm_rest', () => {
	expect(execFileSync('freeradius', ['-v'], { encoding: 'utf8' })).toMatch(/FreeRADIUS Version 3\.[2-9]/);
});
