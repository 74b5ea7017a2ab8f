/**
 * The script of every page that is not hydrated. It enhances pages that work without it and takes texts from
 * their data attributes. tests/e2e/browsers/budgets.spec.ts limits its size.
 */
import { copy, print } from './buttons.ts';
import { colour } from './colour.ts';
import { countDown } from './countdown.ts';
import { keepEntries } from './entries.ts';
import { goLater, keepAddress } from './go.ts';
import { locate } from './locate.ts';
import { loadMap } from './load-map.ts';
import { payForm } from './pay-form.ts';
import { phoneNumber } from './phone.ts';
import { pollPage } from '../purchase/poll.ts';
import { refresh } from './refresh.ts';
import { sendOnce } from './send-once.ts';

const ALL = [
	// First, so that the others read what it enters.
	keepEntries,
	sendOnce,
	phoneNumber,
	payForm,
	() => pollPage(enhancePage),
	refresh,
	countDown,
	copy,
	print,
	locate,
	goLater,
	keepAddress,
	loadMap,
	colour
];
function enhancePage(): void {
	for (const enhance of ALL) enhance();
}
enhancePage();
// app.html reloads a waiting page unless this class shows that the script polls.
document.documentElement.classList.add('enhanced');
