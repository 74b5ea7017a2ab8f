/**
 * Requests from the machine on which it runs, as phones look for the internet. Each message is a number and an address,
 * and is answered by the number and the result of one GET. A process for each request takes a hundred times as long.
 */
import http from 'node:http';
import https from 'node:https';
import process from 'node:process';
import { text } from 'node:stream/consumers';

/** Behind a sign-in stand a script and a question to the portal. */
const limitMs = 15_000;

// openNDS 9 crashes at a sign-in if the name of this header is in lower case.
const headers = { 'User-Agent': 'CaptiveNetworkSupport-443.120.2 wispr', Accept: '*/*', connection: 'close' };

process.on('message', (/** @type {{ id: number, url: string }} */ { id, url }) => {
	/** @param {{ status: number, location: string, body: string }} asked */
	const end = (asked) => process.send?.({ id, asked });
	/** @param {Error} error */
	const fail = ({ message }) => end({ status: 0, location: '', body: message });
	const request = (url.startsWith('https:') ? https : http)
		.get(url, { headers, timeout: limitMs }, (answer) => {
			text(answer).then(
				(body) => end({ status: answer.statusCode ?? 0, location: answer.headers.location ?? '', body }),
				fail
			);
		})
		.on('timeout', () => request.destroy(new Error('timeout')))
		.on('error', fail);
});
