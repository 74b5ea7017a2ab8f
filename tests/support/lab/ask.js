/** `node ask.js URL`: one GET from the machine on which it runs, as phones look for the internet, printed as JSON. */
import http from 'node:http';
import https from 'node:https';
import process from 'node:process';
import { text } from 'node:stream/consumers';

const limitMs = 4_000;

const [url = ''] = process.argv.slice(2);
// openNDS 9 crashes at a sign-in if the name of this header is in lower case.
const headers = { 'User-Agent': 'CaptiveNetworkSupport-443.120.2 wispr', Accept: '*/*', connection: 'close' };

/** @param {{ status: number, location: string, body: string }} answer */
function end(answer) {
	process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
}
(url.startsWith('https:') ? https : http)
	.get(url, { headers, timeout: limitMs }, (answer) => {
		void text(answer).then((body) =>
			end({ status: answer.statusCode ?? 0, location: answer.headers.location ?? '', body })
		);
	})
	.on('timeout', () => end({ status: 0, location: '', body: 'timeout' }))
	.on('error', (error) => end({ status: 0, location: '', body: error.message }));
