import process from 'node:process';

/** True for `npm test -- --all`, which repeats what `npm test` tries once. */
export const isAll = Boolean(process.env['AIRTILL_TEST_ALL']);
