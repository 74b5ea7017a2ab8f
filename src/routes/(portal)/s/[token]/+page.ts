import type { PageLoad } from './$types';

/** The forms come only with a page that shows one: most show none, and the script of each page has a budget. */
export const load: PageLoad = async ({ data }) => ({
	...data,
	AddTime: data.add ? (await import('#lib/components/checkout/AddTime.svelte')).default : null,
	RetryForm: data.again ? (await import('#lib/components/checkout/RetryForm.svelte')).default : null
});
