/** The first answer to a browser, as it goes over the wire. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';

const limitMs = 10_000;

export interface FirstAnswer {
	/** Headers and body as they were sent. */
	bytes: number;
	status: number;
	/** The page, unpacked. */
	html: string;
}

/** Asks as a browser asks that takes compressed pages, on a socket of its own. */
export async function firstAnswer(url: string, language = 'en'): Promise<FirstAnswer> {
	const { hostname, port, pathname, search } = new URL(url);
	const socket = connect(Number(port), hostname);
	socket.setTimeout(limitMs, () => socket.destroy(new Error(`No answer from ${url}`)));
	socket.write(
		[
			`GET ${pathname}${search} HTTP/1.1`,
			`Host: ${hostname}:${port}`,
			'Connection: close',
			'Accept: text/html',
			'Accept-Encoding: gzip, deflate, br',
			`Accept-Language: ${language}`,
			'',
			''
		].join('\r\n')
	);
	const chunks: Buffer[] = [];
	socket.on('data', (chunk) => chunks.push(chunk));
	await once(socket, 'end');
	const all = Buffer.concat(chunks);
	const bodyAt = all.indexOf('\r\n\r\n') + 4;
	const head = all.subarray(0, bodyAt).toString('latin1');
	const body = all.subarray(bodyAt);
	return {
		bytes: all.length,
		status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
		html: (/^content-encoding: gzip/im.test(head) ? gunzipSync(body) : body).toString('utf8')
	};
}
