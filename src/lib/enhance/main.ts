/**
 * The script of every page that is not hydrated. It adds comfort to pages that work without it, looks for data attributes
 * and takes all texts from them. No framework and no message catalogue: tests/e2e/browsers/budgets.spec.ts limits its size.
 */
import { copy, print, share } from './buttons.ts';
import { countDown } from './countdown.ts';
import { goLater, keepAddress } from './go.ts';
import { locate } from './locate.ts';
import { loadMap } from './load-map.ts';
import { payForm } from './pay-form.ts';
import { poll } from './poll.ts';
import { sendOnce } from './send-once.ts';

const ALL = [sendOnce, payForm, poll, countDown, copy, share, print, locate, goLater, keepAddress, loadMap];
for (const enhance of ALL) enhance();
// app.html reloads a page that waits for news unless this class says that the script looks after it.
document.documentElement.classList.add('enhanced');
